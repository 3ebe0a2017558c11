/** Requests to Mailchimp's Marketing API, its errors in our words. */

import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import { cut } from '#runtime/values/cut'
import { askList, type ListHttpOptions, type ListRequest, pauseMs, textsOf } from './http.ts'

export interface MailchimpHttpOptions extends ListHttpOptions {
  /** Of a data centre, such as `us21`: `https://us21.api.mailchimp.com`. */
  endpoint: (dataCentre: string) => string
}

export interface MailchimpRequest extends Pick<ListRequest, 'method' | 'body'> {
  /** Below `/3.0`. */
  path: string
}

/** Asks with the key of one account (`<secret>-<data centre>`). Throws errors of the ports, none with the key in it. */
export const askMailchimp = async (
  options: MailchimpHttpOptions,
  apiKey: string,
  { path, ...request }: MailchimpRequest,
): Promise<unknown> =>
  askList(options, {
    ...request,
    url: `${options.endpoint(dataCentreOf(apiKey))}/3.0${path}`,
    headers: { authorization: `Basic ${Buffer.from(`key:${apiKey}`).toString('base64')}` },
    failureOf,
    retries: 2,
  })

export const keyLost = (message: string): AccessLost =>
  new AccessLost(
    'list-key-refused',
    message,
    'Make an API key in the account at Mailchimp, and connect the store with it again',
  )

/** What stands behind the last dash of a key: part of a host's name, so nothing else may. */
function dataCentreOf(apiKey: string): string {
  const found = /-([a-z]{2,4}\d{1,4})$/.exec(apiKey)
  if (!found) throw keyLost('The API key of the email provider names no data centre')
  return found[1]!
}

/** A refusal that says what the API called it: `Invalid Resource`, `Member In Compliance State`. */
export class MailchimpRefused extends Refused {
  readonly title: string
  readonly detail: string
  constructor(title: string, detail: string) {
    const why = detail || title
    super('refused', `The email provider refused this${why ? `: ${cut(why, 200)}` : ''}`)
    this.title = title
    this.detail = detail
  }
}

function failureOf(response: Response, text: string): Error {
  const { status } = response
  const { title, detail } = textsOf(text, 'title', 'detail')
  if (status === 401 || status === 403) {
    return keyLost(
      `The email provider does not take the store's credentials (${status}${title && ` ${title}`})`,
    )
  }
  if (status === 404) return new Refused('no-such-list', 'The email provider has no such list')
  if (status === 429) return new Throttled(pauseMs(response.headers.get('retry-after')))
  if (status === 408 || status >= 500) {
    return new Unavailable('unknown', `The email provider answered ${status}`)
  }
  return new MailchimpRefused(title, detail)
}
