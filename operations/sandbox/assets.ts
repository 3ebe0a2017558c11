/** Static files of the sandbox page. */
import { readdir, readFile } from 'node:fs/promises'

const folder = new URL('./client/', import.meta.url)
const types: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
}

/** Allowlist of script modules: no other file of the folder is served. */
const parts: ReadonlySet<string> = new Set(await readdir(new URL('parts/', folder)))
export const isPart = (name: string): boolean => parts.has(name)

/** Returns a response with one of the files. */
export async function serveAsset(name: string): Promise<Response> {
  return new Response(await readFile(new URL(name, folder)), {
    headers: {
      'content-type': types[name.split('.').at(-1)!]!,
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    },
  })
}
