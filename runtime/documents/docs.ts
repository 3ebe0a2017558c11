/**
 * Serves `/docs`: the interactive reference and the guides of sections. The reference is Scalar, which renders this
 * server's OpenAPI document (`reference/README.md`). The pages load nothing from another host.
 */
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { brotliDecompress } from 'node:zlib'
import type { MergedExtensions } from '#runtime/extensions'
import { answerCompressed, CompressedText } from '#runtime/http/compression-cache'
import { escapeHtml, renderMarkdown } from './markdown.ts'

type Guides = MergedExtensions['guides']

const decompress = promisify(brotliDecompress)

const renderPage = (guides: Guides): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Merchant API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/reference.css">
<link rel="preload" as="fetch" href="/v1/openapi.json" crossorigin="anonymous">
</head>
<body>
${renderGuideLinks(guides)}<noscript>This page needs JavaScript. The document itself is at <a href="/v1/openapi.json">/v1/openapi.json</a>.</noscript>
<div id="reference"></div>
<script src="/docs/early.js"></script>
<script src="/docs/scalar.js"></script>
<script src="/docs/reference.js"></script>
</body>
</html>
`

const listGuideLinks = (guides: Guides): string[] =>
  Object.entries(guides).map(
    ([key, guide]) =>
      `<a href="/docs/guides/${key}">${escapeHtml(guide!.title)}</a>: ${escapeHtml(guide!.summary)}`,
  )

function renderGuideLinks(guides: Guides): string {
  const links = listGuideLinks(guides)
  return links.length > 0
    ? `<nav aria-label="Guides"><strong>Guides</strong> ${links.join(' · ')}</nav>\n`
    : ''
}

/** `links` and `content`: HTML. */
const renderGuide = (title: string, links: string, content: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)} · Merchant API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/guide.css">
</head>
<body>
<nav aria-label="Documents"><a href="/docs">Reference</a> · ${links}</nav>
<main>
${content}
</main>
</body>
</html>
`

const guideLinks = (key: string): string =>
  `<a href="/docs/guides">Guides</a> · <a href="/docs/guides/${key}.md">As text</a>`

const renderGuideIndex = (guides: Guides): string =>
  renderGuide(
    'Guides',
    '<a href="/">All entry points</a>',
    `<h1>Guides</h1>\n<ul>${listGuideLinks(guides)
      .map((link) => `<li>${link}</li>`)
      .join('')}</ul>`,
  )

/**
 * Scalar's configuration. The API key stays in the browser (`persistAuth`), requests go to this server only, and
 * nothing is loaded from Scalar's hosts.
 */
const script = `const draw = () => Scalar.createApiReference('#reference', {
  url: '/v1/openapi.json',
  authentication: { preferredSecurityScheme: 'apiKey' },
  persistAuth: true,
  telemetry: false,
  withDefaultFonts: false,
  proxyUrl: '',
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  showOperationId: true,
})
// Drawing takes seconds, in which nothing else is painted.
if (globalThis.early) globalThis.early.then(draw)
else draw()
// Corrects its elements for screen readers.
let notices = 0
const mends = {
  '.scalar-code-copy:not([aria-label])': (each) => { each.ariaLabel = 'Copy' },
  'button[role=none]': (each) => each.removeAttribute('role'),
  '[role=combobox]:not([aria-expanded])': (each) => { each.ariaExpanded = 'false' },
  '.show-more[aria-label^="Show all"]': (each) => { each.ariaLabel = each.textContent.trim() + ': ' + each.ariaLabel },
  '.response-card[role=region]': (each) => each.removeAttribute('role'),
  'section[aria-label^="Notifications"]': (each) => { each.ariaLabel = 'Notices ' + (notices += 1) },
}
let isMending = false
const mend = () => {
  isMending = false
  for (const [selector, change] of Object.entries(mends)) document.querySelectorAll(selector).forEach(change)
}
new MutationObserver(() => {
  if (!isMending) setTimeout(mend)
  isMending = true
}).observe(document.body, { childList: true, subtree: true })
`

const style = `:root { color-scheme: light dark }
body { margin: 0 }
body > nav { padding: 10px 20px; font: 15px/1.5 system-ui, sans-serif; color: CanvasText; background: Canvas }
body > nav a { color: LinkText }
#early { max-width: 860px; margin: 0 auto; padding: 16px 20px; font: 16px/1.55 system-ui, sans-serif; color: CanvasText;
  background: Canvas; overflow-wrap: anywhere }
#early code { font: .92em ui-monospace, monospace }
noscript { display: block; padding: 2rem; font: 16px/1.5 system-ui, sans-serif }
/* Its own greys and colours lack contrast, and some of its buttons are too small to tap. */
.light-mode.light-mode { --scalar-color-2: #595959; --scalar-color-3: #6b6b6b; --scalar-color-blue: #0062a8;
  --scalar-color-green: #00704f; --scalar-color-orange: #a34700; --scalar-color-red: #c4141f; --scalar-color-yellow: #7a5c00;
  --scalar-color-purple: #6b3fd4 }
.dark-mode.dark-mode { --scalar-color-2: #b5b5b5; --scalar-color-3: #a0a0a0; --scalar-color-red: #ff7b7b }
.scalar-app button.p-0\\.75 { min-width: 24px; min-height: 24px }
/* A link focuses a whole section, for reading: it cannot be pressed. */
.scalar-app section[tabindex="-1"]:focus-visible { outline: none }
`

const guideStyle = `:root { color-scheme: light dark }
body { max-width: 860px; margin: 0 auto; padding: 16px; font: 17px/1.55 system-ui, sans-serif; overflow-wrap: anywhere }
h1, h2, h3 { line-height: 1.25; margin-block: 1.6em .6em }
a { color: LinkText }
.wide, pre { overflow-x: auto; margin-block: 1em }
table { border-collapse: collapse; font-size: 15px; min-width: 560px }
th, td { border: 1px solid color-mix(in srgb, CanvasText 25%, Canvas); padding: 6px 10px; text-align: start; vertical-align: top }
pre { padding: 12px 14px; border-radius: 6px; background: color-mix(in srgb, CanvasText 7%, Canvas) }
code { font: .92em ui-monospace, monospace }
`

const staticFiles: Record<string, [contentType: string, text: string]> = {
  '/docs/reference.js': ['text/javascript; charset=utf-8', script],
  '/docs/reference.css': ['text/css; charset=utf-8', style],
  '/docs/guide.css': ['text/css; charset=utf-8', guideStyle],
}
const headers = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
}

const html = 'text/html; charset=utf-8'

const early = new URL('reference/early.js', import.meta.url)

/** Finds the content that this file generates, or a guide's, which is read from the disk. Null for any other path. */
async function findContent(
  path: string,
  guides: Guides,
): Promise<[contentType: string, text: string] | null> {
  if (path === '/docs') return [html, renderPage(guides)]
  if (path === '/docs/early.js') return ['text/javascript; charset=utf-8', await readFile(early, 'utf8')]
  if (path === '/docs/guides') return [html, renderGuideIndex(guides)]
  const [, key, isText] = /^\/docs\/guides\/([a-z-]+)(\.md)?$/.exec(path) ?? []
  if (key === undefined || !Object.hasOwn(guides, key)) return staticFiles[path] ?? null
  const { title, file } = guides[key]!
  const markdown = await readFile(file, 'utf8')
  return isText
    ? ['text/markdown; charset=utf-8', markdown]
    : [html, renderGuide(title, guideLinks(key), renderMarkdown(markdown))]
}

/** Compressed texts by path. There are few paths. A text is compressed again if the guide on the disk has changed. */
const compressedByPath = new Map<string, CompressedText>()

function compressOnce(path: string, [type, text]: [contentType: string, text: string]): CompressedText {
  const known = compressedByPath.get(path)
  if (known?.text === text) return known
  const compressed = new CompressedText(text, { type, effort: 'passing' })
  compressedByPath.set(path, compressed)
  return compressed
}

let scalar: Promise<CompressedText> | null = null

/** Loads Scalar's script, megabytes that never change and are stored compressed. */
async function loadScalar(): Promise<CompressedText> {
  const br = Uint8Array.from(await readFile(new URL('reference/scalar.js.br', import.meta.url)))
  const text = (await decompress(br)).toString()
  return new CompressedText(text, { type: 'text/javascript; charset=utf-8', effort: 'passing', br })
}

/** Answers the page, its files and the guides by path; null for any other path. */
export async function answerDocs(path: string, guides: Guides, asked: Headers): Promise<Response | null> {
  const request = { header: (name: string) => asked.get(name) }
  const own = await findContent(path, guides)
  if (own)
    return answerCompressed(compressOnce(path, own), request, { ...headers, 'cache-control': 'no-cache' })
  if (path !== '/docs/scalar.js') return null
  scalar ??= loadScalar()
  return answerCompressed(await scalar, request, { ...headers, 'cache-control': 'public, max-age=86400' })
}
