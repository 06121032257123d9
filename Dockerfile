# A small image of the app: docker build -t bpe-visualizer . && docker run -p 8501:8501 bpe-visualizer
FROM python:3.12-slim

RUN useradd --create-home reader
WORKDIR /app
COPY requirements.txt .
RUN python -m pip install --no-cache-dir -r requirements.txt
COPY . .
RUN python -m compileall -q app.py bpe ui pages

USER reader
EXPOSE 8501
HEALTHCHECK CMD python -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=3)"
CMD ["python", "-m", "streamlit", "run", "app.py", "--server.address=0.0.0.0", "--server.headless=true"]
