/** Sends requests to Mailchimp's Marketing API and converts its errors to port errors. */

import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { parseRetryAfter } from '#runtime/ports/retry-after'
import { truncate } from '#runtime/values/truncate'
import { type ListHttpOptions, type ListRequest, parseTextFields, requestList } from './http.ts'

export interface MailchimpHttpOptions extends ListHttpOptions {
  /** Returns the URL of a data centre, for `us21` `https://us21.api.mailchimp.com`. */
  endpoint: (dataCentre: string) => string
}

export interface MailchimpRequest extends Pick<ListRequest, 'method' | 'body'> {
  /** Path below `/3.0`. */
  path: string
}

/**
 * Sends a request with an account's key (`<secret>-<data centre>`). Throws only port errors, which never contain the
 * key.
 */
export const requestMailchimp = async (
  options: MailchimpHttpOptions,
  apiKey: string,
  { path, ...request }: MailchimpRequest,
): Promise<unknown> =>
  requestList(options, {
    ...request,
    url: `${options.endpoint(parseDataCentre(apiKey))}/3.0${path}`,
    headers: { authorization: `Basic ${Buffer.from(`key:${apiKey}`).toString('base64')}` },
    toError,
    retries: 2,
  })

export const keyRejected = (message: string): AccessLost =>
  new AccessLost(
    'list-key-refused',
    message,
    'Make an API key in the account at Mailchimp, and connect the store with it again',
  )

/** Parses the data centre at the end of the key. It becomes part of a host name, so everything else is refused. */
function parseDataCentre(apiKey: string): string {
  const found = /-([a-z]{2,4}\d{1,4})$/.exec(apiKey)
  if (!found) throw keyRejected('The API key of the email provider names no data centre')
  return found[1]!
}

/** A refusal with the title that the API gives, such as `Invalid Resource` or `Member In Compliance State`. */
export class MailchimpRefused extends Refused {
  readonly title: string
  readonly detail: string
  constructor(title: string, detail: string) {
    const why = detail || title
    super('refused', `The email provider refused this${why ? `: ${truncate(why, 200)}` : ''}`)
    this.title = title
    this.detail = detail
  }
}

function toError(response: Response, text: string): Error {
  const { status } = response
  const { title, detail } = parseTextFields(text, 'title', 'detail')
  if (status === 401 || status === 403) {
    return keyRejected(
      `The email provider does not take the store's credentials (${status}${title && ` ${title}`})`,
    )
  }
  if (status === 404) return new Refused('no-such-list', 'The email provider has no such list')
  if (status === 429) return new Throttled(parseRetryAfter(response.headers, 1000))
  if (status === 408 || status >= 500) {
    return new Unavailable('unknown', `The email provider answered ${status}`)
  }
  return new MailchimpRefused(title, detail)
}
