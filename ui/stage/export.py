"""A stage to take away: one HTML file that scrubs and plays from disk, with no request to anywhere.

The file holds the same scripts and styles as the component, and the payload, compressed. Its content security
policy forbids every connection, so a reader can trust a file from somebody else to keep what it shows.
"""

from __future__ import annotations

import base64
import html
import zlib

from ui.stage.bundle import stage_css, stage_html, stage_js

__all__ = ["export_html"]

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:">
<title>{title}</title>
<style>
body {{ max-width: 1200px; margin: 1rem auto; padding: 0 1rem; color-scheme: light;
  --st-background-color: #ffffff; --st-text-color: #2f2d2b; background: #ffffff; color: #2f2d2b; }}
h1 {{ font: 600 1.2rem system-ui, sans-serif; }}
@media (prefers-color-scheme: dark) {{
  body {{ color-scheme: dark; --st-background-color: #171614; --st-text-color: #edebe8;
    --st-border-color: rgba(237, 235, 232, 0.25); --st-primary-color: #ff6c6c; background: #171614; color: #edebe8; }}
}}
{css}
</style>
</head>
<body>
<h1>{title}</h1>
{stage}
<script type="application/octet-stream" id="payload">{payload}</script>
<script type="module">
{script}
</script>
</body>
</html>
"""


def export_html(payload: bytes, title: str) -> bytes:
    """Return the stage as one file; it opens at the step and with the options of the payload.

    Size: some 40 kB of scripts and styles more than the compressed payload.
    """
    page = _PAGE.format(
        title=html.escape(title),
        css=stage_css(),
        stage=stage_html(),
        payload=base64.b64encode(zlib.compress(payload, 9)).decode(),
        script=stage_js("standalone.js"),
    )
    return page.encode()
