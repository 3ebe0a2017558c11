/** `/docs`: the interactive reference, Swagger UI over the live document, with nothing from another host. */
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

const page = `<!doctype html>
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
<noscript>This page needs JavaScript. The document itself is at <a href="/v1/openapi.json">/v1/openapi.json</a>.</noscript>
<main id="reference"></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/reference.js"></script>
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
noscript { display: block; padding: 2rem; font: 16px/1.5 system-ui, sans-serif }
`

const made: Record<string, [contentType: string, text: string]> = {
  '/docs': ['text/html; charset=utf-8', page],
  '/docs/': ['text/html; charset=utf-8', page],
  '/docs/reference.js': ['text/javascript; charset=utf-8', script],
  '/docs/reference.css': ['text/css; charset=utf-8', style],
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

/** The page and its files by path; null for what is none of them. */
export async function docsAnswer(path: string): Promise<Response | null> {
  const own = made[path]
  if (own) {
    const [contentType, text] = own
    return new Response(text, {
      headers: { ...headers, 'content-type': contentType, 'cache-control': 'no-cache' },
    })
  }
  const contentType = packaged[path]
  if (!contentType) return null
  const file = fileURLToPath(import.meta.resolve(`swagger-ui-dist/${path.slice('/docs/'.length)}`))
  const { size } = await stat(file)
  return new Response(Readable.toWeb(createReadStream(file)) as ReadableStream, {
    headers: {
      ...headers,
      'content-type': contentType,
      'content-length': String(size),
      'cache-control': 'public, max-age=86400',
    },
  })
}
