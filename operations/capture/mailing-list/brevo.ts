/**
 * Adapter for Brevo's API (v3). A store's credentials are `{ apiKey }`. A contact belongs to the whole account and can
 * be in many lists. A person who unsubscribed is blacklisted for emails or unsubscribed from one list; this adapter
 * never undoes either.
 *
 * Brevo's batch endpoint reports no result per person, so each person is looked up and then created or updated, five at
 * a time. Brevo's contacts have no tags. A tag sets the boolean attribute of its name (`back-in-stock` sets
 * `BACK_IN_STOCK`), if the account has that attribute.
 */

import { AccessLost, Refused, Throttled, Unavailable } from '#runtime/ports/errors'
import type { Precondition, ProviderStore } from '#runtime/ports/provider'
import { parseRetryAfter } from '#runtime/ports/retry-after'
import { emailKey } from '#runtime/values/email'
import { splitName } from '#runtime/values/public-name'
import { truncate } from '#runtime/values/truncate'
import { defaultTimes, type ListHttpOptions, type ListRequest, parseTextFields, requestList } from './http.ts'
import {
  checkLists,
  type MailingListPerson,
  type MailingListPort,
  maxPeoplePerCall,
  type PushedPerson,
} from './port.ts'

type Status = PushedPerson['status']

const atOnce = 5
const listsAtOnce = 50
const contactsAtOnce = 1000
const removedAtOnce = 150

/** Brevo names the attributes in the account's language. The first name that the account has is used. */
const firstNames = ['FIRSTNAME', 'FNAME', 'PRENOM', 'VORNAME', 'NOMBRE', 'NOME', 'VOORNAAM']
const lastNames = ['LASTNAME', 'LNAME', 'NOM', 'NACHNAME', 'APELLIDOS', 'SOBRENOME', 'COGNOME', 'ACHTERNAAM']

interface BrevoOptions extends ListHttpOptions {
  /** Base URL, such as `https://api.brevo.com`. */
  endpoint: string
}

interface Contact {
  email?: string
  emailBlacklisted?: boolean
  listIds?: number[]
  listUnsubscribed?: number[] | null
}

interface BrevoRequest extends Pick<ListRequest, 'method' | 'body'> {
  /** Path below `/v3`. */
  path: string
}

/** A refusal with the reason that the API gives. For `duplicate_parameter` it names the identifiers that are duplicates. */
class BrevoRefused extends Refused {
  readonly reason: string
  readonly duplicates: readonly string[]
  constructor(reason: string, message: string, duplicates: readonly string[]) {
    super('refused', `The email provider refused this${message ? `: ${truncate(message, 200)}` : ''}`)
    this.reason = reason
    this.duplicates = duplicates
  }
}

export class BrevoMailingList implements MailingListPort {
  readonly #options: BrevoOptions

  constructor(options: Pick<BrevoOptions, 'endpoint'> & Partial<ListHttpOptions>) {
    this.#options = { ...defaultTimes, ...options }
  }

  async lists(store: ProviderStore): Promise<{ id: string; name: string }[]> {
    const found: { id: string; name: string }[] = []
    for (;;) {
      const path = `/contacts/lists?limit=${listsAtOnce}&offset=${found.length}`
      const { lists = [] } = (await this.#ask(store, { method: 'GET', path })) as {
        lists?: { id: number; name: string }[]
      }
      found.push(...lists.map(({ id, name }) => ({ id: String(id), name })))
      if (lists.length < listsAtOnce) return found
    }
  }

  async upsertSubscribers(
    store: ProviderStore,
    listId: string,
    people: readonly MailingListPerson[],
  ): Promise<PushedPerson[]> {
    if (people.length > maxPeoplePerCall) throw tooMany()
    if (people.length === 0) return []
    const list = await this.#list(store, listId)
    const attributes = await this.#attributes(store)
    const byAddress = new Map(people.map((person) => [emailKey(person.email), person]))
    const statuses = new Map<string, Status>()
    await forEachConcurrently([...byAddress], async ([address, person]) => {
      statuses.set(address, await this.#upsert(store, list, person, toAttributes(person, attributes)))
    })
    return people.map(({ email }) => ({ email, status: statuses.get(emailKey(email)) ?? 'invalid' }))
  }

  async #upsert(
    store: ProviderStore,
    list: number,
    { email }: MailingListPerson,
    attributes: Record<string, unknown>,
    isAgain = false,
  ): Promise<Status> {
    const found = await this.#find(store, email)
    if (found && hasLeft(found, list)) return 'unsubscribed'
    const request = (given: object): BrevoRequest =>
      found
        ? { method: 'PUT', path: toContactPath(email), body: { attributes: given, listIds: [list] } }
        : {
            method: 'POST',
            path: '/contacts',
            body: { email: email.trim(), attributes: given, listIds: [list], updateEnabled: false },
          }
    try {
      await this.#withoutPhone(store, attributes, request)
    } catch (error) {
      if (!(error instanceof BrevoRefused)) throw error
      if (!found && error.duplicates.includes('email')) {
        // The contact was created concurrently, or it exists under another spelling and was not found.
        if (isAgain) return 'invalid'
        return this.#upsert(store, list, { email, name: null, phone: null }, attributes, true)
      }
      if (error.reason !== 'invalid_parameter' && error.reason !== 'missing_parameter') throw error
      return 'invalid'
    }
    return found ? 'updated' : 'added'
  }

  /**
   * Sends a request, and again without the phone if Brevo refuses the phone. Brevo allows a phone for only one contact
   * and only in formats that it knows.
   */
  async #withoutPhone(
    store: ProviderStore,
    attributes: Record<string, unknown>,
    request: (attributes: object) => BrevoRequest,
  ): Promise<void> {
    try {
      await this.#ask(store, request(attributes))
    } catch (error) {
      const isAboutPhone =
        error instanceof BrevoRefused &&
        (error.duplicates.includes('SMS') || /phone|sms/i.test(error.message))
      if (!isAboutPhone || !('SMS' in attributes)) throw error
      const { SMS: _, ...others } = attributes
      await this.#ask(store, request(others))
    }
  }

  async unsubscribe(store: ProviderStore, listId: string, emails: readonly string[]): Promise<string[]> {
    if (emails.length > maxPeoplePerCall) throw tooMany()
    const removed = new Set<string>()
    for (let from = 0; from < emails.length; from += removedAtOnce) {
      const some = emails.slice(from, from + removedAtOnce)
      for (const email of await this.#remove(store, listId, some)) removed.add(emailKey(email))
    }
    return emails.filter((email) => removed.has(emailKey(email)))
  }

  async #remove(store: ProviderStore, listId: string, emails: readonly string[]): Promise<string[]> {
    try {
      const path = `/contacts/lists/${encodeURIComponent(listId)}/contacts/remove`
      const { contacts } = (await this.#ask(store, { method: 'POST', path, body: { emails } })) as {
        contacts?: { success?: string[] }
      }
      return contacts?.success ?? []
    } catch (error) {
      // None of these people is on the list, or the list was deleted. Either way there is nobody to remove.
      if (error instanceof BrevoRefused && error.reason === 'invalid_parameter') return []
      if (error instanceof Refused && error.code === 'no-such-list') return []
      throw error
    }
  }

  async *unsubscribedSince(store: ProviderStore, listId: string, since: Date): AsyncGenerator<string[]> {
    const list = await this.#list(store, listId)
    for (let offset = 0; ; offset += contactsAtOnce) {
      const query = new URLSearchParams({
        modifiedSince: since.toISOString(),
        limit: String(contactsAtOnce),
        offset: String(offset),
        sort: 'asc',
      })
      const { contacts = [] } = (await this.#ask(store, { method: 'GET', path: `/contacts?${query}` })) as {
        contacts?: Contact[]
      }
      const unsubscribed = contacts
        .filter((contact) => hasLeft(contact, list))
        .flatMap(({ email }) => email ?? [])
      if (unsubscribed.length > 0) yield unsubscribed
      if (contacts.length < contactsAtOnce) return
    }
  }

  async check(store: ProviderStore, listId?: string | null): Promise<Precondition[]> {
    const findings = await checkLists(this, store, listId)
    if (!findings[0]?.isFine) return findings
    const attributes = await this.#attributes(store)
    const has = (names: readonly string[]): boolean => names.some((name) => attributes.has(name))
    const isNamed = has(firstNames) && has(lastNames)
    return [
      ...findings,
      isNamed
        ? { code: 'names', isFine: true, message: 'Names go to the attributes of first and last name' }
        : {
            code: 'names',
            isFine: false,
            message: 'The account has no attributes for first and last name: names are left out',
            remedy: 'Make the text attributes FIRSTNAME and LASTNAME at Brevo',
          },
      attributes.has(toTagAttribute('back-in-stock'))
        ? { code: 'tags', isFine: true, message: 'Who waits for stock is marked by BACK_IN_STOCK' }
        : {
            code: 'tags',
            isFine: false,
            message:
              'Who waits for stock is not marked: Brevo has no tags, and the account no attribute for it',
            remedy: 'Make the boolean attribute BACK_IN_STOCK at Brevo',
          },
    ]
  }

  async #find(store: ProviderStore, email: string): Promise<Contact | null> {
    try {
      return (await this.#ask(store, { method: 'GET', path: toContactPath(email) })) as Contact
    } catch (error) {
      if (error instanceof Refused && error.code === 'no-such-list') return null
      // Brevo considers the address invalid. The request that creates the contact reports that.
      if (error instanceof BrevoRefused && error.reason === 'invalid_parameter') return null
      throw error
    }
  }

  async #list(store: ProviderStore, listId: string): Promise<number> {
    if (!/^\d{1,15}$/.test(listId)) throw noSuchList()
    await this.#ask(store, { method: 'GET', path: `/contacts/lists/${listId}` })
    return Number(listId)
  }

  /** Names of the account's attributes. Brevo ignores or refuses values of other attributes. */
  async #attributes(store: ProviderStore): Promise<ReadonlySet<string>> {
    const { attributes = [] } = (await this.#ask(store, { method: 'GET', path: '/contacts/attributes' })) as {
      attributes?: { name: string }[]
    }
    return new Set(attributes.map(({ name }) => name))
  }

  async #ask(store: ProviderStore, { path, ...request }: BrevoRequest): Promise<unknown> {
    const { apiKey } = (store.credentials ?? {}) as { apiKey?: unknown }
    if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) {
      throw keyRejected('The store has no API key of the email provider')
    }
    return requestList(this.#options, {
      ...request,
      url: `${this.#options.endpoint}/v3${path}`,
      headers: { 'api-key': apiKey },
      toError,
      retries: 4,
    })
  }
}

/** Parses `brevo://api.brevo.com`. Throws on an invalid address. */
export function parseBrevoUrl(text: string): Pick<BrevoOptions, 'endpoint'> {
  const url = URL.parse(text)
  if (url?.protocol !== 'brevo:' || !url.host || url.username || !/^\/?$/.test(url.pathname)) {
    throw new Error('MAILING_LIST_URL: must be brevo://api.brevo.com')
  }
  return { endpoint: `https://${url.host}` }
}

const toContactPath = (email: string): string =>
  `/contacts/${encodeURIComponent(emailKey(email))}?identifierType=email_id`

const hasLeft = ({ emailBlacklisted, listUnsubscribed }: Contact, list: number): boolean =>
  emailBlacklisted === true || (listUnsubscribed ?? []).includes(list)

const toTagAttribute = (tag: string): string => tag.toUpperCase().replace(/[^A-Z0-9]+/g, '_')

function toAttributes(
  { name, phone, tags = [] }: MailingListPerson,
  known: ReadonlySet<string>,
): Record<string, unknown> {
  const { given, others } = splitName(name)
  const firstName = firstNames.find((each) => known.has(each))
  const lastName = lastNames.find((each) => known.has(each))
  return {
    ...(given && firstName ? { [firstName]: given } : {}),
    ...(others.length > 0 && lastName ? { [lastName]: others.join(' ') } : {}),
    ...(phone ? { SMS: phone } : {}),
    ...Object.fromEntries(
      tags
        .map(toTagAttribute)
        .filter((each) => known.has(each))
        .map((each) => [each, true]),
    ),
  }
}

async function forEachConcurrently<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < all.length; from += atOnce) {
    await Promise.all(all.slice(from, from + atOnce).map(work))
  }
}

const tooMany = () => new Refused('too-many', `The email provider takes ${maxPeoplePerCall} people at once`)
const noSuchList = () => new Refused('no-such-list', 'The email provider has no such list')
const keyRejected = (message: string): AccessLost =>
  new AccessLost(
    'list-key-refused',
    message,
    'Make an API key (v3) in the account at Brevo, allow this server’s address there, and connect the store again',
  )

function toError(response: Response, text: string): Error {
  const { status, headers } = response
  const { code, message } = parseTextFields(text, 'code', 'message')
  if (status === 401 || status === 403) {
    return keyRejected(
      `The email provider does not take the store's credentials (${status}${message && ` ${message}`})`,
    )
  }
  if (status === 404) return noSuchList()
  if (status === 429) return new Throttled(parseRetryAfter(headers, 1000, 'x-sib-ratelimit-reset'))
  if (status === 408 || status >= 500) {
    return new Unavailable('unknown', `The email provider answered ${status}`)
  }
  return new BrevoRefused(code, message, parseDuplicates(text))
}

function parseDuplicates(text: string): string[] {
  try {
    const { metadata } = JSON.parse(text) as { metadata?: { duplicate_identifiers?: unknown } }
    const names = metadata?.duplicate_identifiers
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : []
  } catch {
    return []
  }
}
