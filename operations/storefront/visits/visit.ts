/** The caller of a storefront route. */

import type { SystemContext } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { ApiError } from '#runtime/errors'
import type { PageRequest } from '#runtime/page'
import type { z } from '#runtime/schema'
import type { VisitedStore } from './visited-store.ts'

/** Maximum size of a visitor's body. */
export const maxBodyBytes = 32 * 1024

export interface Visit {
  params: Record<string, string>
  /** A signed form of the IP address, per store; not stored. */
  visitor: string
  /** Whether a person opened the page or sent its form: answered with HTML, otherwise with JSON. */
  isPerson: boolean
  /** Whether a person opened it: answered with HTML, otherwise with JSON. */
  wantsHtml: boolean
  /** Whether a page's form was sent, not a script's JSON. */
  isForm: boolean
  /** The path as sent. */
  address: string
  header(name: string): string | null
  /** Features that the store may use now; empty if its subscription may not write. */
  features: ReadonlySet<string>
  /** Changes whenever anything that the storefront shows may have changed. */
  stamp: string
  /** Revision of settings and catalog cache, for an ETag. */
  revision: string
  /** The query; an invalid one is refused with a 400 that names the field. */
  query<S extends z.ZodTypeAny>(schema: S): z.infer<S>
  /** The JSON body (32 KiB); an invalid one is refused with a 400 that names the field. */
  body<S extends z.ZodTypeAny>(schema: S): Promise<z.infer<S>>
  /** The filled fields of a form without files. */
  fields: PageRequest['fields']
  /** A form with its files. */
  filledForm: PageRequest['filledForm']
  /** The raw values of a form, only for redrawing it. */
  typed: PageRequest['submittedFields']
  /** Counts an accepted capture; answers 429 beyond 20 an hour and address, unless configured otherwise. */
  accepted(): Promise<void>
  /** Counts a call in a window of its own; answers 429 beyond `limit`. */
  limit(name: string, limit: number, windowMs: number): Promise<void>
}

export function buildVisit(
  system: SystemContext,
  request: PageRequest,
  visitor: string,
  { features, stamp, revision }: VisitedStore,
): Visit {
  return {
    params: request.params,
    visitor,
    features,
    stamp,
    revision,
    wantsHtml: request.wantsHtml,
    isForm: request.isForm,
    address: request.rawPath,
    isPerson: request.method === 'GET' ? request.wantsHtml : request.isForm,
    header: (name) => request.header(name),
    query: (schema) => request.query(schema),
    body: (schema) => request.json(schema, maxBodyBytes),
    // URL encoding may take nine bytes per letter: a form may be longer than a script's body.
    fields: (...options) => request.fields(...options),
    filledForm: (atMost) => request.filledForm(atMost),
    typed: () => request.submittedFields(),
    accepted: () =>
      enforceLimit(system, 'storefront-accepted', visitor, system.settings.storefrontAcceptedIp, hourMs),
    limit: (name, limit, windowMs) => enforceLimit(system, name, visitor, limit, windowMs),
  }
}

/** Counts one call, and refuses (429) more than `limit`. */
export async function enforceLimit(
  system: SystemContext,
  name: string,
  key: string,
  limit: number,
  windowMs?: number,
) {
  const verdict = await system.services.limits.hit(name, key, limit, windowMs)
  if (verdict.allowed) return
  throw new ApiError('rate_limited', 'Too many requests: try again later', {
    'retry-after': String(verdict.resetSeconds),
  })
}
