/** Reads form parameters sent by a client: each at most once, with limited length. */
import type { PageRequest } from '#runtime/page'
import { OauthError } from '../errors.ts'

export interface Fields {
  /** Refuses a missing parameter. */
  required(name: string): string
  optional(name: string): string | null
}

export async function readFields(request: PageRequest): Promise<Fields> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(request.header('content-type') ?? ''))
    throw new OauthError('invalid_request', 'body: must be application/x-www-form-urlencoded')
  const fields = await request.fields(16 * 1024, { once: true })
  const optional = (name: string): string | null => fields[name] ?? null
  return {
    optional,
    required(name) {
      const value = optional(name)
      if (value === null) throw new OauthError('invalid_request', `${name}: is required`)
      return value
    },
  }
}
