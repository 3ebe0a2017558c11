/**
 * A route outside `/v1` (a page behind a link, a provider's hook, a storefront read): one file below a section's
 * `pages/`. It has no key: each says how it knows its caller.
 */
import type { SystemContext } from './context.ts'
import type { Method } from './operation.ts'

export interface Page {
  readonly kind: 'page'
  method: Method
  /** From the root of the server, parameters as `:name`. */
  path: string
  description: string
  /** Why it is safe without a key: a token in the path, a signature, public data. */
  trust: string
  /** Only where the sandbox is on. */
  sandboxOnly?: boolean
  handler(
    ctx: SystemContext,
    request: { raw: Request; params: Record<string, string>; ip: string },
  ): Promise<Response> | Response
}

export const page = (spec: Omit<Page, 'kind'>): Page => ({ kind: 'page', ...spec })
