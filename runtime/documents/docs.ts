/**
 * `/docs`: the interactive reference, Swagger UI over the live document, and the guides that sections give; with nothing
 * from another host.
 */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { Packed, packedAnswer } from '#runtime/http/packed'
import type { Wired } from '#runtime/wiring'
import { escaped, htmlOf } from './markdown.ts'

type Guides = Wired['guides']

const page = (guides: Guides): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Merchant API reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/reference.css">
</head>
<body>
${guidesOf(guides)}<noscript>This page needs JavaScript. The document itself is at <a href="/v1/openapi.json">/v1/openapi.json</a>.</noscript>
<main id="reference"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/reference.js"></script>
</body>
</html>
`

function guidesOf(guides: Guides): string {
  const links = Object.entries(guides).map(
    ([key, guide]) =>
      `<a href="/docs/guides/${key}">${escaped(guide!.title)}</a>: ${escaped(guide!.summary)}`,
  )
  return links.length > 0
    ? `<nav aria-label="Guides"><strong>Guides</strong> ${links.join(' · ')}</nav>\n`
    : ''
}

const guidePage = (title: string, key: string, markdown: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)} · Merchant API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/guide.css">
</head>
<body>
<nav aria-label="Documents"><a href="/docs">Reference</a> · <a href="/docs/guides/${key}.md">As text</a></nav>
<main>
${htmlOf(markdown)}
</main>
</body>
</html>
`

/** The key stays in the browser (`persistAuthorization`), and requests go to this server alone. */
const script = `window.ui = SwaggerUIBundle({
  url: '/v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  displayOperationId: true,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: true,
  tryItOutEnabled: true,
  validatorUrl: null,
})
`

const style = `.swagger-ui .topbar { display: none }
.swagger-ui .wrapper { max-width: 1100px }
body { margin: 0 }
nav { max-width: 1060px; margin: 0 auto; padding: 16px 20px; font: 16px/1.5 system-ui, sans-serif }
noscript { display: block; padding: 2rem; font: 16px/1.5 system-ui, sans-serif }
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

const made: Record<string, [contentType: string, text: string]> = {
  '/docs/reference.js': ['text/javascript; charset=utf-8', script],
  '/docs/reference.css': ['text/css; charset=utf-8', style],
  '/docs/guide.css': ['text/css; charset=utf-8', guideStyle],
}
const packaged: Record<string, string> = {
  '/docs/swagger-ui.css': 'text/css; charset=utf-8',
  '/docs/swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
}

const headers = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
    "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
}

const html = 'text/html; charset=utf-8'

/** What is made here; of a guide as it lies on the disk. */
async function madeAt(path: string, guides: Guides): Promise<[contentType: string, text: string] | null> {
  if (path === '/docs' || path === '/docs/') return [html, page(guides)]
  const [, key, isText] = /^\/docs\/guides\/([a-z-]+)(\.md)?$/.exec(path) ?? []
  if (key === undefined || !Object.hasOwn(guides, key)) return made[path] ?? null
  const { title, file } = guides[key]!
  const markdown = await readFile(file, 'utf8')
  return isText ? ['text/markdown; charset=utf-8', markdown] : [html, guidePage(title, key, markdown)]
}

/** By path: megabytes that never change, compressed once. */
const packed = new Map<string, Promise<Packed>>()

async function packagedAt(path: string, type: string): Promise<Packed> {
  const file = fileURLToPath(import.meta.resolve(`swagger-ui-dist/${path.slice('/docs/'.length)}`))
  return new Packed(await readFile(file, 'utf8'), { type, effort: 'passing' })
}

/** The page and its files by path, and the guides; null for what is none of them. */
export async function docsAnswer(path: string, guides: Guides, asked: Headers): Promise<Response | null> {
  const request = { header: (name: string) => asked.get(name) }
  const own = await madeAt(path, guides)
  if (own) {
    const [type, text] = own
    const made = new Packed(text, { type, effort: 'passing' })
    return packedAnswer(made, request, { ...headers, 'cache-control': 'no-cache' })
  }
  const type = packaged[path]
  if (!type) return null
  const file = packed.get(path) ?? packagedAt(path, type)
  packed.set(path, file)
  return packedAnswer(await file, request, { ...headers, 'cache-control': 'public, max-age=86400' })
}
