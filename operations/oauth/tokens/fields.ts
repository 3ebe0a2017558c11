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

/**
 * Reads the client's id from the form, or from the user name of HTTP Basic, where libraries put it that always
 * authenticate (RFC 6749, section 2.3.1). Any password is ignored: clients have no secret here.
 */
export function readClientId(request: PageRequest, fields: Fields): string {
  const basic = /^basic +(?<text>\S+)$/i.exec(request.header('authorization') ?? '')?.groups?.text
  const encoded = basic && Buffer.from(basic, 'base64').toString().split(':')[0]
  const name = encoded ? new URLSearchParams(`name=${encoded}`).get('name') : null
  return fields.optional('client_id') ?? name ?? fields.required('client_id')
}
