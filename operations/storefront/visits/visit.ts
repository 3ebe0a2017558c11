/** The request of a storefront route, with the data and limits of its visitor. */

import type { SystemContext } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { ApiError } from '#runtime/errors'
import type { PageRequest } from '#runtime/page'
import type { z } from '#runtime/schema'
import type { VisitedStore } from './visited-store.ts'

/** Maximum size of a request body. */
export const maxBodyBytes = 32 * 1024

export interface Visit {
  params: Record<string, string>
  /** Keyed hash of the IP address, different for each store; not stored. */
  visitor: string
  /** Whether a person opened the page or sent its form. A person gets HTML, a script JSON. */
  isPerson: boolean
  /** Whether the request accepts HTML, as a browser does when a person opens the page. */
  wantsHtml: boolean
  /** Whether the body is an HTML form, not JSON from a script. */
  isForm: boolean
  /** The request's path as the browser sent it. */
  address: string
  header(name: string): string | null
  /** Features that the store may use now; empty if its subscription may not write. */
  features: ReadonlySet<string>
  /** Changes whenever anything that the storefront shows may have changed. */
  stamp: string
  /** Revision of settings and catalog cache, for an ETag. */
  revision: string
  /** Parses the query. Refuses an invalid query with a 400 that names the field; a page for people ignores unknown ones. */
  query<S extends z.AnyZodObject>(schema: S): z.infer<S>
  /** Parses the JSON body of at most 32 KiB. Refuses an invalid body with a 400 that names the field. */
  body<S extends z.ZodTypeAny>(schema: S): Promise<z.infer<S>>
  /** The filled fields of a form without files. */
  fields: PageRequest['fields']
  /** A form with its files. */
  filledForm: PageRequest['filledForm']
  /** The raw values of a form, only for redrawing it. */
  typed: PageRequest['submittedFields']
  /**
   * Counts a capture that is about to be accepted. Refuses (429) more than 20 per hour and address, a configurable
   * limit.
   */
  accepted(): Promise<void>
  /** Counts a call under this name. Refuses (429) more than `limit` calls per window. */
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
    // Without `maxBodyBytes`: URL encoding may need nine bytes per letter, so a form may be longer than a JSON body.
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
