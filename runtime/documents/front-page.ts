/** Renders the front page `/`, a list of entry points: as HTML for people, as JSON for programs. */

import type { MergedExtensions } from '#runtime/extensions'
import type { Page } from '#runtime/page'
import { escapeHtml } from './markdown.ts'

interface EntryPoint {
  title: string
  path: string
  summary: string
  /** An address for programs, which is not linked. */
  isForPrograms?: true
}

const about =
  'One key belongs to one online store; with it its owner, their scripts and their assistants run the whole store.'

const fixedEntryPoints: EntryPoint[] = [
  {
    title: 'Reference',
    path: '/docs',
    summary: 'Every operation with its fields, limits and errors; set a key and try it out.',
  },
  {
    title: 'OpenAPI document',
    path: '/v1/openapi.json',
    summary: 'OpenAPI 3.1, for generators of clients, collections and mock servers.',
  },
  {
    title: 'For assistants',
    path: '/mcp',
    summary:
      'The Model Context Protocol over Streamable HTTP, with a key as its bearer: an address for a client, no page.',
    isForPrograms: true,
  },
  {
    title: 'What a key may run',
    path: '/v1/operations',
    summary: 'The operations of the key that asks, with the schemas of their query and body.',
    isForPrograms: true,
  },
]

export function listEntryPoints(guides: MergedExtensions['guides'], pages: readonly Page[]): EntryPoint[] {
  return [
    fixedEntryPoints[0]!,
    ...Object.entries(guides).map(([key, guide]) => ({
      title: guide!.title,
      path: `/docs/guides/${key}`,
      summary: `${guide!.summary.charAt(0).toUpperCase()}${guide!.summary.slice(1)}.`,
    })),
    ...pages.flatMap(({ path, entrance }) =>
      entrance ? [{ title: entrance.title, path: entrance.at ?? path, summary: entrance.summary }] : [],
    ),
    ...fixedEntryPoints.slice(1),
  ]
}

const style = `:root { color-scheme: light dark; --line: color-mix(in srgb, CanvasText 18%, Canvas) }
body { max-width: 720px; margin: 0 auto; padding: 24px 16px 48px; font: 17px/1.5 system-ui, sans-serif; overflow-wrap: anywhere }
h1 { font-size: 30px; line-height: 1.2; margin: 24px 0 8px }
p { margin: 0 }
ul { list-style: none; padding: 0; margin: 28px 0; border-top: 1px solid var(--line) }
li { border-bottom: 1px solid var(--line); padding: 14px 0 }
a, strong { font-weight: 600 }
a { color: LinkText; text-underline-offset: 3px }
code { font: .88em ui-monospace, monospace }
pre { overflow-x: auto; padding: 12px 14px; border-radius: 6px; background: color-mix(in srgb, CanvasText 7%, Canvas) }
`

function renderFrontPage(ways: readonly EntryPoint[], publicUrl: string): string {
  const items = ways.map(
    ({ title, path, summary, isForPrograms }) =>
      `<li>${
        isForPrograms
          ? `<strong>${escapeHtml(title)}</strong>`
          : `<a href="${escapeHtml(path)}">${escapeHtml(title)}</a>`
      } <code>${escapeHtml(path)}</code><br>${escapeHtml(summary)}</li>`,
  )
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Merchant API</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<main>
<h1>Merchant API</h1>
<p>${about}</p>
<ul>
${items.join('\n')}
</ul>
<p>A first call:</p>
<pre tabindex="0" aria-label="A first call"><code>curl -H 'Authorization: Bearer mk_live_…' ${escapeHtml(publicUrl)}/v1/store</code></pre>
</main>
</body>
</html>
`
}

const headers = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-cache',
  vary: 'accept',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
}

export function answerFrontPage(
  ways: readonly EntryPoint[],
  publicUrl: string,
  accepts: string | undefined,
): Response {
  if (accepts?.includes('text/html')) {
    return new Response(renderFrontPage(ways, publicUrl), {
      headers: { ...headers, 'content-type': 'text/html; charset=utf-8' },
    })
  }
  const listed = ways.map(({ title, path, summary }) => ({ title, path, summary }))
  return Response.json({ name: 'Merchant API', ways: listed }, { headers })
}

/** Renders `/llms.txt` (see llmstxt.org): an overview for language models, section by section. */
export function renderLlmsText(
  ways: readonly EntryPoint[],
  publicUrl: string,
  sections: readonly { title: string; description: string }[],
): string {
  return [
    '# Merchant API',
    '',
    `> ${about}`,
    '',
    `Every call below ${publicUrl}/v1 has a key: \`Authorization: Bearer mk_live_…\`. An error is always`,
    '`{ "error": { "code", "message" } }`; its sentence names the field and the remedy. An assistant with the Model Context',
    `Protocol connects to ${publicUrl}/mcp with the same header: \`list_operations\` finds an operation by a merchant's words,`,
    '`describe_operation` shows how it is called, `call_operation` calls it.',
    '',
    '## Documents',
    '',
    ...ways.map(({ title, path, summary }) => `- [${title}](${publicUrl}${toTextPath(path)}): ${summary}`),
    '',
    '## What can be done',
    '',
    ...sections.map(({ title, description }) => `- **${title}**: ${description.replaceAll(/\s+/g, ' ')}`),
    '',
  ].join('\n')
}

/** The address of an entry point's text version: a guide has one as Markdown. */
const toTextPath = (path: string): string => (path.startsWith('/docs/guides/') ? `${path}.md` : path)
