/**
 * A route outside `/v1` (a page behind a link, a provider's hook, a storefront read): one file below a section's
 * `pages/`. It has no key: each says how it knows its caller.
 */
import type { SystemContext } from './context.ts'
import { readBodyAs } from './input.ts'
import type { Method } from './operation.ts'
import type { z } from './schema.ts'
import { readText } from './web.ts'

export interface Page {
  readonly kind: 'page'
  method: Method
  /** From the root of the server, parameters as `:name`. */
  path: string
  description: string
  /** Why it is safe without a key: a token in the path, a signature, public data. */
  trust: string
  /** Scripts of any other site may call it, without credentials; preflights are answered. */
  cors?: boolean
  /** Only where the sandbox is on. */
  sandboxOnly?: boolean
  handler(
    ctx: SystemContext,
    request: { raw: Request; params: Record<string, string>; ip: string },
  ): Promise<Response> | Response
}

export const page = (spec: Omit<Page, 'kind'>): Page => ({ kind: 'page', ...spec })

/** A JSON answer of a page. */
export const jsonAnswer = (body: unknown, status = 200): Response =>
  new Response(status === 204 ? null : JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  })

/** The JSON body of a page's request, read with a schema; refused with a 400 that names the field. */
export async function readJsonBody<S extends z.ZodTypeAny>(
  request: Request,
  schema: S,
  atMost = 1024 * 1024,
): Promise<z.infer<S>> {
  const text = await readText(request, request.headers.get('content-length') ?? undefined, atMost)
  return readBodyAs(schema, text)
}
