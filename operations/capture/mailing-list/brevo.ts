/**
 * Adapter for Brevo's API (v3). A store's credentials are `{ apiKey }`. A contact belongs to the whole account and can
 * be in many lists. A person who unsubscribed is blacklisted for emails or unsubscribed from one list; this adapter
 * never undoes either.
 *
 * The adapter finds out who left before it writes, since writing subscribes again. It then imports many people by one
 * request; a few, and those that an import leaves out, are created or updated one by one. Consent groups, if the account
 * has them, decide who may be written to: the store's credentials may name one (`consentGroupId`).
 *
 * Brevo's contacts have no tags. A tag sets the boolean attribute of its name (`back-in-stock` sets `BACK_IN_STOCK`), if
 * the account has that attribute.
 */

import { Refused } from '#runtime/ports/errors'
import type { Precondition, ProviderStore } from '#runtime/ports/provider'
import { emailKey } from '#runtime/values/email'
import { splitName } from '#runtime/values/public-name'
import { type ConsentGroup, checkConsent, noConsentGroups, readConsentGroup } from './brevo-consent.ts'
import { BrevoRefused, type BrevoRequest, noSuchList, requestBrevo } from './brevo-http.ts'
import { type ImportOptions, importContacts } from './brevo-import.ts'
import { defaultTimes } from './http.ts'
import {
  checkLists,
  type MailingListPerson,
  type MailingListPort,
  maxPeoplePerCall,
  type PushedPerson,
} from './port.ts'

type Status = PushedPerson['status']

const atOnce = 5
/** Above this number of people an import takes fewer requests. */
const importFrom = 25
/** All contacts of an account are read if there are at most so many for each person that would be looked up. */
const contactsPerLookup = 100
const listsAtOnce = 50
const contactsAtOnce = 1000
const removedAtOnce = 150

/** Brevo names the attributes in the account's language. The first name that the account has is used. */
const firstNames = ['FIRSTNAME', 'FNAME', 'PRENOM', 'VORNAME', 'NOMBRE', 'NOME', 'VOORNAAM']
const lastNames = ['LASTNAME', 'LNAME', 'NOM', 'NACHNAME', 'APELLIDOS', 'SOBRENOME', 'COGNOME', 'ACHTERNAAM']

interface BrevoOptions extends ImportOptions {
  /** Base URL, such as `https://api.brevo.com`. */
  endpoint: string
}

interface Contact {
  email?: string
  emailBlacklisted?: boolean
  listIds?: number[]
  listUnsubscribed?: number[] | null
  /** Present if the account has consent groups. */
  consentGroups?: { id: number; status: string }[] | null
}

/** A list to push to, and the consent group that its people join, if the store has chosen one. */
interface Target {
  list: number
  consentGroup: number | null
}
interface Pushed {
  address: string
  person: MailingListPerson
  attributes: Record<string, unknown>
  found: Contact | null
}

export class BrevoMailingList implements MailingListPort {
  readonly #options: BrevoOptions

  constructor(options: Pick<BrevoOptions, 'endpoint'> & Partial<ImportOptions>) {
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
    const target = await this.#target(store, listId)
    const known = await this.#attributes(store)
    const byAddress = new Map(people.map((person) => [emailKey(person.email), person]))
    const contacts = await this.#findAll(store, [...byAddress.keys()])
    const statuses = new Map<string, Status>()
    const open: Pushed[] = []
    for (const [address, person] of byAddress) {
      const found = contacts.get(address) ?? null
      if (found && hasLeft(found, target)) statuses.set(address, 'unsubscribed')
      else open.push({ address, person, attributes: toAttributes(person, known), found })
    }
    // Only an import adds people to a consent group.
    const isMany = open.length > importFrom || (open.length > 0 && target.consentGroup !== null)
    const left = isMany ? await this.#import(store, target, open, statuses) : open
    await forEachConcurrently(left, async (each) => {
      statuses.set(each.address, await this.#upsert(store, target, each))
    })
    return people.map(({ email }) => ({ email, status: statuses.get(emailKey(email)) ?? 'invalid' }))
  }

  /** Imports people and notes their statuses. Returns those that Brevo left out. */
  async #import(
    store: ProviderStore,
    { list, consentGroup }: Target,
    people: readonly Pushed[],
    statuses: Map<string, Status>,
  ): Promise<Pushed[]> {
    const isLeftOut = await importContacts((request) => this.#ask(store, request), this.#options, {
      jsonBody: people.map(({ address, attributes }) => ({ email: address, attributes })),
      listIds: [list],
      ...(consentGroup === null ? {} : { consentGroupIds: [consentGroup] }),
    })
    const left = people.filter(({ person }) => isLeftOut(person))
    for (const { address, person, found } of people) {
      if (!isLeftOut(person)) statuses.set(address, found ? 'updated' : 'added')
    }
    return left
  }

  async #upsert(
    store: ProviderStore,
    target: Target,
    { person: { email }, attributes, found }: Omit<Pushed, 'address'>,
    isAgain = false,
  ): Promise<Status> {
    const listIds = [target.list]
    const request = (given: object): BrevoRequest =>
      found
        ? { method: 'PUT', path: toContactPath(email), body: { attributes: given, listIds } }
        : {
            method: 'POST',
            path: '/contacts',
            body: { email: email.trim(), attributes: given, listIds, updateEnabled: false },
          }
    try {
      await this.#withoutPhone(store, attributes, request)
    } catch (error) {
      if (!(error instanceof BrevoRefused)) throw error
      if (!found && error.duplicates.includes('email')) {
        // The contact was created concurrently, or it exists under another spelling and was not found.
        if (isAgain) return 'invalid'
        const now = await this.#find(store, email)
        if (now && hasLeft(now, target)) return 'unsubscribed'
        const person = { email, name: null, phone: null }
        return this.#upsert(store, target, { person, attributes, found: now }, true)
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
    const target = await this.#target(store, listId)
    for await (const contacts of this.#contacts(store, { modifiedSince: since.toISOString() })) {
      const unsubscribed = contacts
        .filter((contact) => hasLeft(contact, target))
        .flatMap(({ email }) => email ?? [])
      if (unsubscribed.length > 0) yield unsubscribed
    }
  }

  async *#contacts(store: ProviderStore, filters: Record<string, string>): AsyncGenerator<Contact[]> {
    for (let offset = 0; ; offset += contactsAtOnce) {
      const page = { limit: String(contactsAtOnce), offset: String(offset), sort: 'asc' }
      const { contacts = [] } = (await this.#ask(store, {
        method: 'GET',
        path: `/contacts?${new URLSearchParams({ ...filters, ...page })}`,
      })) as { contacts?: Contact[] }
      yield contacts
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
      checkConsent(readConsentGroup(store), await this.#consentGroups(store)),
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

  /** The account's consent groups; empty if it does not have the feature. */
  async #consentGroups(store: ProviderStore): Promise<ConsentGroup[]> {
    try {
      const path = '/contacts/consent-groups?limit=50'
      const { consentGroups = [] } = (await this.#ask(store, { method: 'GET', path })) as {
        consentGroups?: ConsentGroup[]
      }
      return consentGroups
    } catch (error) {
      if (error instanceof BrevoRefused && error.reason === noConsentGroups) return []
      throw error
    }
  }

  /** Finds contacts by address: one by one, or by reading all if the account is small. */
  async #findAll(store: ProviderStore, addresses: readonly string[]): Promise<Map<string, Contact>> {
    const found = new Map<string, Contact>()
    if (addresses.length > importFrom && (await this.#isSmall(store, addresses.length))) {
      for await (const contacts of this.#contacts(store, {})) {
        for (const contact of contacts) if (contact.email) found.set(emailKey(contact.email), contact)
      }
      return found
    }
    await forEachConcurrently(addresses, async (address) => {
      const contact = await this.#find(store, address)
      if (contact) found.set(address, contact)
    })
    return found
  }

  async #isSmall(store: ProviderStore, lookups: number): Promise<boolean> {
    const { count } = (await this.#ask(store, { method: 'GET', path: '/contacts?limit=1' })) as {
      count?: number
    }
    return typeof count === 'number' && count <= lookups * contactsPerLookup
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

  async #target(store: ProviderStore, listId: string): Promise<Target> {
    if (!/^\d{1,15}$/.test(listId)) throw noSuchList()
    await this.#ask(store, { method: 'GET', path: `/contacts/lists/${listId}` })
    return { list: Number(listId), consentGroup: readConsentGroup(store) }
  }

  /** Names of the account's attributes. Brevo ignores or refuses values of other attributes. */
  async #attributes(store: ProviderStore): Promise<ReadonlySet<string>> {
    const { attributes = [] } = (await this.#ask(store, { method: 'GET', path: '/contacts/attributes' })) as {
      attributes?: { name: string }[]
    }
    return new Set(attributes.map(({ name }) => name))
  }

  #ask(store: ProviderStore, request: BrevoRequest): Promise<unknown> {
    return requestBrevo(this.#options, store, request)
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

/** Whether a contact may not be written to: blacklisted, unsubscribed from the list or from the consent group. */
function hasLeft(
  { emailBlacklisted, listUnsubscribed, consentGroups }: Contact,
  { list, consentGroup }: Target,
): boolean {
  if (emailBlacklisted === true || (listUnsubscribed ?? []).includes(list)) return true
  const groups = (consentGroups ?? []).filter(({ id }) => consentGroup === null || id === consentGroup)
  return groups.length > 0 && groups.every(({ status }) => status === 'unsubscribed')
}

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
