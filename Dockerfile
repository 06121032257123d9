# A small image of the app: docker build -t bpe-visualizer . && docker run --read-only --tmpfs /tmp -p 8501:8501 bpe-visualizer
FROM python:3.12-slim

RUN useradd --create-home reader
WORKDIR /app
COPY requirements.txt .
RUN python -m pip install --no-cache-dir -r requirements.txt
COPY . .
RUN python -m compileall -q app.py bpe ui pages sample_corpora

# Two arenas instead of sixteen: Streamlit has a thread a reader, and glibc keeps what each has freed for that thread.
ENV MALLOC_ARENA_MAX=2

USER reader
# Machine code of the kernels for this CPU, read also where the file system is read-only; on another CPU it is made
# again, in memory, in about a second.
RUN python -m bpe warm
EXPOSE 8501
HEALTHCHECK --interval=30s --start-period=20s CMD python -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=3)"
CMD ["python", "-m", "streamlit", "run", "app.py", "--server.address=0.0.0.0", "--server.headless=true"]
