/** Errors in the OAuth format that clients parse (RFC 6749, section 5.2): `{ error, error_description }`. */
import type { SystemContext } from '#runtime/context'
import { ApiError, toHttpStatus } from '#runtime/errors'
import { jsonAnswer, type PageRequest } from '#runtime/page'

export type OauthCode =
  | 'access_denied'
  | 'invalid_client'
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
  /** `description` is for the developer of the client: ASCII without quotes and backslashes, as the RFC requires. */
  constructor(code: OauthCode, description: string) {
    super(description)
    this.code = code
  }
}

/** Wraps a handler so that its errors are answered in the format of OAuth. */
export const withOauthErrors =
  (handler: (ctx: SystemContext, request: PageRequest) => Promise<Response>) =>
  async (ctx: SystemContext, request: PageRequest): Promise<Response> => {
    try {
      return await handler(ctx, request)
    } catch (error) {
      if (error instanceof OauthError) {
        const answer = toErrorResponse(error.code === 'invalid_client' ? 401 : 400, error.code, error.message)
        // Names the scheme that the client used, as RFC 6749, section 5.2, requires.
        if (answer.status === 401 && /^basic /i.test(request.header('authorization') ?? ''))
          answer.headers.set('www-authenticate', 'Basic')
        return answer
      }
      if (!(error instanceof ApiError) || error.code === 'unavailable') throw error
      const code = error.code === 'rate_limited' ? 'temporarily_unavailable' : 'invalid_request'
      const answer = toErrorResponse(toHttpStatus(error.code), code, error.message)
      for (const [name, value] of Object.entries(error.headers ?? {})) answer.headers.set(name, value)
      return answer
    }
  }

const toErrorResponse = (status: number, error: OauthCode, description: string): Response =>
  jsonAnswer({ error, error_description: description.replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '') }, status)
