/** What a route of the storefront is told of who calls it. */

import type { SystemContext } from '#runtime/context'
import { hourMs } from '#runtime/durations'
import { Refusal } from '#runtime/errors'
import type { PageRequest } from '#runtime/page'
import type { z } from '#runtime/schema'
import type { Visited } from './visited.ts'

/** Of a body that a visitor sends. */
export const bodyAtMost = 32 * 1024

export interface Visit {
  params: Record<string, string>
  /** Stands for the address at this store; it is kept nowhere. */
  visitor: string
  /** Whether a person opened it or sent its form: HTML then, JSON otherwise. */
  isPerson: boolean
  /** Whether a person opened it: HTML then, JSON otherwise. */
  wantsHtml: boolean
  /** Whether a page's form was sent, and no script's JSON. */
  isForm: boolean
  /** The path, as it was sent. */
  address: string
  header(name: string): string | null
  /** What the store may use now; nothing while its subscription may not write. */
  features: ReadonlySet<string>
  /** Another one whenever something of what the storefront shows may be another. */
  stamp: string
  /** Of settings and of the catalog's mirror, for an ETag. */
  revision: string
  /** The query, refused with a 400 that names the field. */
  query<S extends z.ZodTypeAny>(schema: S): z.infer<S>
  /** The JSON body (32 KiB), refused with a 400 that names the field. */
  body<S extends z.ZodTypeAny>(schema: S): Promise<z.infer<S>>
  /** The filled fields of a form without files. */
  fields: PageRequest['fields']
  /** A form with its files. */
  filledForm: PageRequest['filledForm']
  /** What a form was filled in with, to be shown again and for nothing else. */
  typed: PageRequest['typed']
  /** Counts an accepted capture: 20 an hour and address unless set otherwise, then 429. */
  accepted(): Promise<void>
  /** Counts one of at most `limit` in a window of its own, then 429. */
  limit(name: string, limit: number, windowMs: number): Promise<void>
}

export function visitOf(
  system: SystemContext,
  request: PageRequest,
  visitor: string,
  { features, stamp, revision }: Visited,
): Visit {
  return {
    params: request.params,
    visitor,
    features,
    stamp,
    revision,
    wantsHtml: request.wantsHtml,
    isForm: request.isForm,
    address: request.address,
    isPerson: request.method === 'GET' ? request.wantsHtml : request.isForm,
    header: (name) => request.header(name),
    query: (schema) => request.query(schema),
    body: (schema) => request.json(schema, bodyAtMost),
    // Encoded, a letter may take nine bytes: a form may be longer than what scripts send.
    fields: (...options) => request.fields(...options),
    filledForm: (atMost) => request.filledForm(atMost),
    typed: () => request.typed(),
    accepted: () =>
      allow(system, 'storefront-accepted', visitor, system.settings.storefrontAcceptedIp, hourMs),
    limit: (name, limit, windowMs) => allow(system, name, visitor, limit, windowMs),
  }
}

/** Counts one, and refuses (429) more than `limit`. */
export async function allow(
  system: SystemContext,
  name: string,
  key: string,
  limit: number,
  windowMs?: number,
) {
  const verdict = await system.services.limits.hit(name, key, limit, windowMs)
  if (verdict.allowed) return
  throw new Refusal('rate_limited', 'Too many requests: try again later', {
    'retry-after': String(verdict.resetSeconds),
  })
}
