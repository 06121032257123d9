"""A visitor without a browser: speaks Streamlit's protocol over a real WebSocket, and keeps what is on the page.

    async with Visitor(url) as visitor:
        await visitor.open("?tokenizer=gpt2")
        await visitor.act({"text": "hello"})
        visitor.stage_text("tokenize-stage")

Lighter than a browser by a factor of a hundred, so fifty fit beside the server that they visit. It does what the
browser does as far as the server can tell: cookies, one socket, all widget values with each rerun, hashes of messages
that it has, fragments on their own clock, uploads over HTTP. It draws nothing and fetches no scripts or styles.
"""

from __future__ import annotations

import asyncio
import http.cookiejar
import json
import struct
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

__all__ = ["Gone", "Rerun", "Upload", "Visitor", "query_of"]

WAIT_SECONDS = 120.0
_AUTOMATIC_WAIT_SECONDS = 10.0  # a fragment that is gone answers nothing, and so does its browser
_DONE = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)

# Which field of a widget's state its kind of element reports in
_FIELDS = {
    "text_area": "string_value",
    "text_input": "string_value",
    "selectbox": "string_value",
    "number_input": "double_value",
    "slider": "double_array_value",
    "button": "trigger_value",
    "multiselect": "string_array_value",
    "button_group": "string_array_value",
    "bidi_component": "json_value",
    "file_uploader": "file_uploader_state_value",
}


class Gone(ConnectionError):
    """The server has closed the connection, or did not answer in time."""


def _shown_text(widget: Any) -> str:
    return str(widget.value if widget.set_value else widget.default)


def _shown_option(widget: Any) -> str | None:
    if widget.set_value:
        return str(widget.raw_value)
    return widget.options[widget.default] if widget.HasField("default") and widget.options else None


def _shown_number(widget: Any) -> float | None:
    if widget.set_value:
        return float(widget.value)
    return float(widget.default) if widget.HasField("default") else None


def _shown_numbers(widget: Any) -> list[float]:
    return list(widget.value if widget.set_value else widget.default)


def _shown_options(widget: Any) -> list[str]:
    if widget.set_value:
        return list(widget.raw_values)
    options = [getattr(option, "content", option) for option in widget.options]
    return [options[place] for place in widget.default]


# What a widget shows before anybody touches it
_DEFAULTS: dict[str, Callable[[Any], Any]] = {
    "text_area": _shown_text,
    "text_input": _shown_text,
    "selectbox": _shown_option,
    "number_input": _shown_number,
    "slider": _shown_numbers,
    "multiselect": _shown_options,
    "button_group": _shown_options,
}


@dataclass(frozen=True)
class Rerun:
    """One rerun as the visitor saw it: why, seconds from the message to the end of the script, who asked."""

    what: str
    seconds: float
    is_automatic: bool


@dataclass(frozen=True)
class Upload:
    """What the server said to a file: the HTTP status, and its words where it refused."""

    status: int
    words: str


@dataclass
class _Shown:
    """An element on the page, the run that drew it, and the fragment it stands in."""

    element: Element
    run: str
    fragment: str


@dataclass
class Visitor:
    """One reader with a tab open at `url`.

    Without `has_boxes`, the scripts that draw boxes have not come yet, as on a slow line: the visitor sees the page
    run, but its browser shows no box, and tells the server of none.
    """

    url: str
    has_boxes: bool = True
    reruns: list[Rerun] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    num_received_bytes: int = 0
    session: str = ""
    query: str = ""
    on_frame: Callable[[bytes], None] | None = None
    _socket: ClientConnection | None = None
    _reader: asyncio.Task[None] | None = None
    _clock: asyncio.Task[None] | None = None
    _page: str = ""
    _page_name: str = ""
    _pages: dict[str, str] = field(default_factory=dict)
    _shown: dict[tuple[int, ...], _Shown] = field(default_factory=dict)
    _values: dict[str, WidgetState] = field(default_factory=dict)
    _cached: dict[str, ForwardMsg] = field(default_factory=dict)
    _automatic: dict[str, float] = field(default_factory=dict)
    _run: str = ""
    _is_running: bool = False
    _finished: asyncio.Event = field(default_factory=asyncio.Event)
    _file_urls: asyncio.Queue[Any] = field(default_factory=asyncio.Queue)
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    _cookies: http.cookiejar.CookieJar = field(default_factory=http.cookiejar.CookieJar)

    async def __aenter__(self) -> Visitor:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # ------------------------------------------------------------------------------------------ coming and going

    async def open(self, link: str = "") -> None:
        """Open a link, `Train?step=3` or so, in a new tab in place of the old one, and wait until the page is there."""
        await self._hang_up()
        self.session = ""
        page, _, query = link.partition("?")
        self._page_name, self.query, self._page = page.strip("/"), query.partition("#")[0], ""
        self._values.clear()
        self._shown.clear()
        await self._connect()
        await self._rerun("open", time.monotonic())

    async def come_back(self) -> None:
        """Connect again after the connection broke, and send what the tab holds, as a browser does."""
        await self._hang_up()
        await self._connect()
        await self._rerun("come back", time.monotonic())

    async def close(self) -> None:
        """Close the tab."""
        await self._hang_up()

    async def _connect(self) -> None:
        await asyncio.to_thread(self._get, "/")
        await asyncio.to_thread(self._get, "/_stcore/health")
        address = self.url.replace("http", "ws", 1) + "/_stcore/stream"
        headers = {"Origin": self.url, "Cookie": "; ".join(f"{one.name}={one.value}" for one in self._cookies)}
        protocols: list[Any] = ["streamlit", self._xsrf() or "none", *([self.session] if self.session else [])]
        self._socket = await connect(
            address, subprotocols=protocols, additional_headers=headers, max_size=None, compression=None
        )
        self._reader = asyncio.create_task(self._read(self._socket))
        self._clock = asyncio.create_task(self._tick())

    async def _hang_up(self) -> None:
        for task in (self._clock, self._reader):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError, Exception):
                    await task
        if self._socket is not None:
            await self._socket.close()
        self._socket = self._reader = self._clock = None
        self._is_running = False
        self._automatic.clear()

    def _opener(self) -> urllib.request.OpenerDirector:
        no_proxy = urllib.request.ProxyHandler({})
        return urllib.request.build_opener(no_proxy, urllib.request.HTTPCookieProcessor(self._cookies))

    def _get(self, path: str) -> bytes:
        with self._opener().open(self.url + path, timeout=30) as answer:
            return bytes(answer.read())

    def _xsrf(self) -> str:
        return next((str(one.value) for one in self._cookies if one.name == "_streamlit_xsrf"), "")

    # ------------------------------------------------------------------------------------------ doing something

    async def act(self, values: Mapping[str, object], what: str = "act") -> None:
        """Set widgets by their keys, all in one message, and wait until the page is there.

        A button is pressed with True. `what` names the action in `reruns`.
        """
        asked = time.monotonic()
        fragments = {self._set(key, value) for key, value in values.items()}
        fragment = fragments.pop() if len(fragments) == 1 else ""
        try:
            await self._rerun(what, asked, fragment=fragment)
        finally:
            for name in [name for name, state in self._values.items() if state.WhichOneof("value") == "trigger_value"]:
                del self._values[name]

    def message(self) -> BackMsg:
        """Return what the browser would send now, to be sent later: on a slow line it crosses with an answer."""
        return self._rerun_message()

    async def send(self, message: BackMsg) -> None:
        """Send a message of before, and wait until the page has run."""
        async with self._turn:
            self._finished.clear()
            await self._send(message)
            await self._answered(is_automatic=False)

    async def run_again(self) -> None:
        """Let the page run as it stands."""
        await self._rerun("run again", time.monotonic())

    async def hurry(self, values: Mapping[str, object]) -> None:
        """Set widgets and do not wait: the next action comes before the page has answered this one."""
        for key, value in values.items():
            self._set(key, value)
        await self._send(self._rerun_message())

    async def go_to(self, page: str, query: str = "") -> None:
        """Go to another page of the same session, through the navigation, with these parameters in the address."""
        asked = time.monotonic()
        self._page = self._pages[page]
        self.query = query
        await self._rerun(f"to {page or 'Tokenize'}", asked)

    async def settle(self, seconds: float = WAIT_SECONDS) -> None:
        """Wait until nothing on the page runs by itself any more: work in the background is over."""
        deadline = time.monotonic() + seconds
        while self._automatic or self._is_running or self._turn.locked():
            if time.monotonic() > deadline:
                raise Gone(f"the page still runs by itself after {seconds:.0f} s: {self.words()[-300:]}")
            await asyncio.sleep(0.05)

    async def upload(self, key: str, name: str, content: bytes, *, show: bool = True) -> Upload:
        """Upload a file to the uploader of this key; with `show`, let the page run with it."""
        asked = time.monotonic()
        element = self.element(key).file_uploader
        message = BackMsg()
        message.file_urls_request.request_id = uuid.uuid4().hex
        message.file_urls_request.file_names.append(name)
        message.file_urls_request.session_id = self.session
        await self._send(message)
        answer = await asyncio.wait_for(self._file_urls.get(), WAIT_SECONDS)
        (urls,) = answer.file_urls
        done = await asyncio.to_thread(self._put, urls.upload_url, name, content)
        if done.status < 300 and show:
            state = WidgetState(id=element.id)
            info = state.file_uploader_state_value.uploaded_file_info.add()
            info.name, info.size, info.file_id = name, len(content), urls.file_id
            info.file_urls.CopyFrom(urls)
            self._values[element.id] = state
            await self._rerun("upload", asked)
        return done

    def _put(self, path: str, name: str, content: bytes) -> Upload:
        edge = uuid.uuid4().hex
        quoted = name.replace("\\", "\\\\").replace('"', "%22")
        start = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{quoted}"\r\n'
        body = f"{start}Content-Type: text/plain\r\n\r\n".encode() + content + f"\r\n--{edge}--\r\n".encode()
        request = urllib.request.Request(self.url + path, data=body, method="PUT")
        request.add_header("Content-Type", f"multipart/form-data; boundary={edge}")
        request.add_header("X-Xsrftoken", self._xsrf())
        try:
            with self._opener().open(request, timeout=60) as answer:
                return Upload(answer.status, "")
        except urllib.error.HTTPError as error:
            return Upload(error.code, error.read().decode(errors="replace")[:500])
        except (urllib.error.URLError, ConnectionError) as error:  # refused while it was still being sent
            return Upload(413, str(error))

    def _set(self, key: str, value: object) -> str:
        """Note the value of a widget and return the fragment that it stands in."""
        shown = self._find(key)
        kind = str(shown.element.WhichOneof("type"))
        widget = getattr(shown.element, kind)
        self._values[widget.id] = _state_of(widget.id, kind, value)
        if getattr(widget, "query_param_key", ""):
            pairs = dict(urllib.parse.parse_qsl(self.query, keep_blank_values=True))
            shown_value = f"{value:g}" if isinstance(value, float) else value
            self.query = urllib.parse.urlencode(pairs | {widget.query_param_key: shown_value})
        return shown.fragment

    # ------------------------------------------------------------------------------------------ what is on the page

    def element(self, key: str) -> Element:
        """Return the widget of a key; KeyError without one."""
        return self._find(key).element

    def elements(self, kind: str) -> list[Any]:
        """Return what is on the page of one kind, `alert` or `bidi_component`, in the order of the page."""
        places = sorted(self._shown.items())
        return [getattr(one.element, kind) for _, one in places if one.element.WhichOneof("type") == kind]

    def widget_keys(self) -> set[str]:
        """Return the keys of the widgets on the page."""
        return {_key_of(one.element) for one in self._shown.values()} - {""}

    def shown(self, key: str) -> object:
        """Return what the box of a key would show if the browser drew it now, for the first time."""
        element = self.element(key)
        return _DEFAULTS[str(element.WhichOneof("type"))](_widget(element))

    def keys_of(self, kind: str) -> set[str]:
        """Return the keys of the widgets of one kind."""
        shown = (one.element for one in self._shown.values() if one.element.WhichOneof("type") == kind)
        return {_key_of(element) for element in shown} - {""}

    def kinds(self) -> set[str]:
        """Return the kinds of element on the page."""
        return {str(one.element.WhichOneof("type")) for one in self._shown.values()}

    def words(self) -> str:
        """Return the texts of the page: markdown, captions, alerts."""
        return "\n".join(self._words())

    def alerts(self) -> list[str]:
        """Return what the page says in boxes: errors, warnings, notices."""
        return [alert.body for alert in self.elements("alert")]

    def payload(self, key: str) -> bytes:
        """Return what a component was given to draw."""
        return bytes(self.element(key).bidi_component.bytes)

    def head(self, key: str) -> dict[str, Any]:
        """Return the head of a stage's payload."""
        payload = self.payload(key)
        (length,) = struct.unpack_from("<I", payload)
        head: dict[str, Any] = json.loads(payload[4 : 4 + length])
        return head

    def stage_text(self, key: str, section: str = "text0") -> str:
        """Return the text that a stage draws."""
        payload = self.payload(key)
        (length,) = struct.unpack_from("<I", payload)
        offset, num_bytes, _ = self.head(key)["sections"][section]
        return payload[4 + length + offset :][:num_bytes].decode()

    def _words(self) -> Iterator[str]:
        for _, shown in sorted(self._shown.items()):
            kind = shown.element.WhichOneof("type")
            if kind in ("markdown", "alert", "text", "heading", "html"):
                yield getattr(shown.element, kind).body
            elif kind == "progress":
                yield shown.element.progress.text

    def _find(self, key: str) -> _Shown:
        for shown in self._shown.values():
            if _key_of(shown.element) == key:
                return shown
        raise KeyError(f"no widget {key!r} on the page: {self.words()[:300]}")

    # ------------------------------------------------------------------------------------------ the wire

    def _rerun_message(self, fragment: str = "", is_automatic: bool = False) -> BackMsg:
        message = BackMsg()
        rerun = message.rerun_script
        rerun.query_string = self.query
        rerun.page_script_hash = self._page
        rerun.page_name = "" if self._page else self._page_name
        rerun.widget_states.widgets.extend(self._values.values())
        rerun.cached_message_hashes.extend(self._cached)
        rerun.fragment_id = fragment
        rerun.is_auto_rerun = is_automatic
        return message

    async def _rerun(self, what: str, asked: float, *, fragment: str = "", is_automatic: bool = False) -> None:
        async with self._turn:
            self._finished.clear()
            await self._send(self._rerun_message(fragment, is_automatic))
            if not await self._answered(is_automatic):
                if is_automatic:
                    return
                raise Gone(f"no answer to {what!r} within {WAIT_SECONDS:.0f} s")
            if self._reader is None or self._reader.done():
                raise Gone(f"the connection broke during {what!r}")
            self.reruns.append(Rerun(what, time.monotonic() - asked, is_automatic))

    async def _answered(self, is_automatic: bool) -> bool:
        """Wait for the end of the script. A fragment that is gone by now gets no answer, and begins nothing."""
        deadline = time.monotonic() + WAIT_SECONDS
        seconds = _AUTOMATIC_WAIT_SECONDS if is_automatic else WAIT_SECONDS
        while time.monotonic() < deadline:
            try:
                await asyncio.wait_for(self._finished.wait(), seconds)
                return True
            except TimeoutError:
                if not self._is_running:
                    return False
        return False

    async def _send(self, message: BackMsg) -> None:
        if self._socket is None:
            raise Gone("there is no connection")
        try:
            await self._socket.send(message.SerializeToString())
        except ConnectionClosed as error:
            raise Gone("the server closed the connection") from error

    async def _tick(self) -> None:
        """Run fragments on their clock, as a browser does while nothing else is asked."""
        due: dict[str, float] = {}
        while True:
            now = time.monotonic()
            for name, interval in list(self._automatic.items()):
                if now >= due.setdefault(name, now + interval) and not self._turn.locked():
                    due[name] = now + interval
                    with suppress(Gone):
                        await self._rerun("look in", time.monotonic(), fragment=name, is_automatic=True)
            due = {name: when for name, when in due.items() if name in self._automatic}
            await asyncio.sleep(0.05)

    async def _read(self, socket: ClientConnection) -> None:
        try:
            async for frame in socket:
                assert isinstance(frame, bytes)
                self.num_received_bytes += len(frame)
                if self.on_frame is not None:
                    self.on_frame(frame)
                message = ForwardMsg.FromString(frame)
                self._take(message)
        except ConnectionClosed:
            pass
        finally:
            self._finished.set()  # whoever waits sees that the reader is done

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            known = self._cached[message.ref_hash]
            whole = ForwardMsg()
            whole.CopyFrom(known)
            whole.metadata.CopyFrom(message.metadata)
            self._show(whole)
        elif kind == "delta":
            if message.metadata.cacheable:
                self._cached[message.hash] = message
            self._show(message)
        elif kind == "new_session":
            self._begin(message)
        elif kind == "navigation":
            self._page = message.navigation.page_script_hash
            pages = message.navigation.app_pages
            self._pages = {"" if page.is_default else page.url_pathname: page.page_script_hash for page in pages}
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "auto_rerun":
            self._automatic[message.auto_rerun.fragment_id] = message.auto_rerun.interval
        elif kind == "stop_auto_rerun":
            for name in message.stop_auto_rerun.fragment_ids:
                self._automatic.pop(name, None)
        elif kind == "file_urls_response":
            self._file_urls.put_nowait(message.file_urls_response)
        elif kind == "page_not_found":
            self.problems.append("page not found")
        elif kind == "session_event" and message.session_event.WhichOneof("type") == "script_compilation_exception":
            self.problems.append(message.session_event.script_compilation_exception.message)
        elif kind == "script_finished" and message.script_finished in _DONE:
            self._end(message)

    def _begin(self, message: ForwardMsg) -> None:
        new = message.new_session
        self._is_running = True
        self.session = new.initialize.session_id or self.session
        self._run = message.metadata.run.script_run_id
        if not message.metadata.run.fragment_ids:
            self._automatic.clear()

    def _show(self, message: ForwardMsg) -> None:
        if message.delta.WhichOneof("type") != "new_element":
            return
        element = message.delta.new_element
        kind = str(element.WhichOneof("type"))
        if kind == "exception":
            self.problems.append(f"{element.exception.type}: {element.exception.message}")
        widget = getattr(element, kind)
        if getattr(widget, "set_value", False):
            self._values.pop(widget.id, None)  # the page has set it: the browser takes the page's value
        place = tuple(message.metadata.delta_path)
        self._shown[place] = _Shown(element, self._run, message.delta.fragment_id)

    def _end(self, message: ForwardMsg) -> None:
        """Take away what the last run has not drawn again: all of it, or its own fragment's part."""
        fragments = set(message.metadata.run.fragment_ids)
        is_part = message.script_finished == ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY
        for place, shown in list(self._shown.items()):
            is_asked = not is_part or shown.fragment in fragments
            if is_asked and shown.run != self._run:
                del self._shown[place]
        self._forget_absent()
        if self.has_boxes:
            for shown in self._shown.values():
                self._mount(shown.element)
        self._is_running = False
        self._finished.set()

    def _mount(self, element: Element) -> None:
        """Note what a widget shows, as its browser does: every rerun tells the server all of them."""
        kind = str(element.WhichOneof("type"))
        widget = _widget(element)
        if kind not in _DEFAULTS or widget.id in self._values:
            return
        value = _DEFAULTS[kind](widget)
        if value is not None:
            self._values[widget.id] = _state_of(widget.id, kind, value)

    def _forget_absent(self) -> None:
        """Forget the values of widgets, and the clocks of fragments, that are no longer on the page."""
        on_page = {shown.fragment for shown in self._shown.values()}
        ids = {getattr(_widget(shown.element), "id", "") for shown in self._shown.values()}
        self._values = {name: state for name, state in self._values.items() if name in ids}
        self._automatic = {name: every for name, every in self._automatic.items() if name in on_page}


def _state_of(name: str, kind: str, value: Any) -> WidgetState:
    state = WidgetState(id=name)
    where = _FIELDS[kind]
    if where == "string_array_value":
        state.string_array_value.data.extend(map(str, value))
    elif where == "double_array_value":
        state.double_array_value.data.extend(value)
    elif where == "json_value":
        state.json_value = json.dumps(value)
    else:
        setattr(state, where, value)
    return state


def _key_of(element: Element) -> str:
    """Return the key of a widget, which ends its id: `$$ID-<digest>-<key>`; empty for what is no widget."""
    _, _, rest = getattr(_widget(element), "id", "").partition("-")
    return rest.partition("-")[2]


def _widget(element: Element) -> Any:
    return getattr(element, str(element.WhichOneof("type")))


def query_of(values: Mapping[str, str]) -> str:
    """Return parameters as they stand in an address."""
    return urllib.parse.urlencode(values)
