/** Refusals in the form of OAuth, which its clients act on (RFC 6749, section 5.2): `{ error, error_description }`. */
import type { SystemContext } from '#runtime/context'
import { Refusal, statusOf } from '#runtime/errors'
import { jsonAnswer, type PageRequest } from '#runtime/page'

export type OauthCode =
  | 'access_denied'
  | 'invalid_client_metadata'
  | 'invalid_grant'
  | 'invalid_redirect_uri'
  | 'invalid_request'
  | 'invalid_scope'
  | 'invalid_target'
  | 'server_error'
  | 'temporarily_unavailable'
  | 'unsupported_grant_type'
  | 'unsupported_response_type'

export class OauthError extends Error {
  readonly code: OauthCode
  /** `description` is for the developer of the client: ASCII, without quotes and backslashes, as the RFC wants it. */
  constructor(code: OauthCode, description: string) {
    super(description)
    this.code = code
  }
}

/** The same handler, whose refusals are answered in OAuth's form. */
export const answeringOauth =
  (handler: (ctx: SystemContext, request: PageRequest) => Promise<Response>) =>
  async (ctx: SystemContext, request: PageRequest): Promise<Response> => {
    try {
      return await handler(ctx, request)
    } catch (error) {
      if (error instanceof OauthError) return refused(400, error.code, error.message)
      if (!(error instanceof Refusal) || error.code === 'unavailable') throw error
      const code = error.code === 'rate_limited' ? 'temporarily_unavailable' : 'invalid_request'
      const answer = refused(statusOf(error.code), code, error.message)
      for (const [name, value] of Object.entries(error.headers ?? {})) answer.headers.set(name, value)
      return answer
    }
  }

const refused = (status: number, error: OauthCode, description: string): Response =>
  jsonAnswer({ error, error_description: description.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '') }, status)
