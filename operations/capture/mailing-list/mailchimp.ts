/**
 * Adapter for Mailchimp's Marketing API. A store's credentials are `{ apiKey }`, a key that the merchant finds under
 * Extras. New people are added by one batch, which skips existing members (`update_existing: false`). Existing members
 * are updated one by one with `status_if_new`, which never resubscribes a person who unsubscribed. The response shows
 * members who get no campaigns although they never unsubscribed (`transactional`, `pending`, `archived`); a second
 * request subscribes them.
 */

import { createHash } from 'node:crypto'
import { Refused } from '#runtime/ports/errors'
import type { Precondition, ProviderStore } from '#runtime/ports/provider'
import { emailKey } from '#runtime/values/email'
import { splitName } from '#runtime/values/public-name'
import { defaultTimes } from './http.ts'
import {
  keyRejected,
  type MailchimpHttpOptions,
  MailchimpRefused,
  requestMailchimp,
} from './mailchimp-http.ts'
import {
  checkLists,
  type MailingListPerson,
  type MailingListPort,
  maxPeoplePerCall,
  type PushedPerson,
} from './port.ts'

type Status = PushedPerson['status']

/** Mailchimp allows ten concurrent connections per account, and other software may use the account too. */
const updatesAtOnce = 5
const listsAtMost = 1000
const membersAtOnce = 1000

const unsubscribedPattern = /compliance state|permanently deleted|forgotten|unsubscribed/i
const mergeFieldPattern = /merge field/i

/**
 * Parses `mailchimp://api.mailchimp.com`. The host is the domain of all data centres. Throws on an invalid URL.
 */
export function parseMailchimpUrl(text: string): Pick<MailchimpHttpOptions, 'endpoint'> {
  const url = URL.parse(text)
  if (!url?.host || url.username || (url.pathname !== '' && url.pathname !== '/')) {
    throw new Error('MAILING_LIST_URL: must be mailchimp://api.mailchimp.com')
  }
  const { host } = url
  return { endpoint: (dataCentre) => `https://${dataCentre}.${host}` }
}

export class MailchimpMailingList implements MailingListPort {
  readonly #http: MailchimpHttpOptions

  constructor(options: Pick<MailchimpHttpOptions, 'endpoint'> & Partial<MailchimpHttpOptions>) {
    this.#http = { ...defaultTimes, ...options }
  }

  async lists(store: ProviderStore): Promise<{ id: string; name: string }[]> {
    const path = `/lists?count=${listsAtMost}&fields=lists.id,lists.name`
    const { lists = [] } = (await this.#ask(store, { method: 'GET', path })) as {
      lists?: { id: string; name: string }[]
    }
    return lists.map(({ id, name }) => ({ id, name }))
  }

  async upsertSubscribers(
    store: ProviderStore,
    listId: string,
    people: readonly MailingListPerson[],
  ): Promise<PushedPerson[]> {
    if (people.length > maxPeoplePerCall) {
      throw new Refused('too-many', `The email provider takes ${maxPeoplePerCall} people at once`)
    }
    const byAddress = new Map(people.map((person) => [emailKey(person.email), person]))
    const statuses = await this.#add(store, listId, [...byAddress.values()])
    const others = [...byAddress].filter(([address]) => !statuses.has(address))
    for (let from = 0; from < others.length; from += updatesAtOnce) {
      const some = others.slice(from, from + updatesAtOnce)
      const updated = await Promise.all(some.map(([, person]) => this.#update(store, listId, person)))
      for (const [i, status] of updated.entries()) statuses.set(some[i]![0], status)
    }
    return people.map(({ email }) => ({ email, status: statuses.get(emailKey(email)) ?? 'invalid' }))
  }

  /** Adds new people by a batch. Returns the statuses of people who need no further request, so not of existing members. */
  async #add(
    store: ProviderStore,
    listId: string,
    people: readonly MailingListPerson[],
  ): Promise<Map<string, Status>> {
    const statuses = new Map<string, Status>()
    if (people.length === 0) return statuses
    const answer = (await this.#ask(store, {
      method: 'POST',
      path: `/lists/${encodeURIComponent(listId)}?skip_merge_validation=true&skip_duplicate_check=true`,
      body: {
        update_existing: false,
        members: people.map((person) => ({
          email_address: person.email.trim(),
          status: 'subscribed',
          merge_fields: toMergeFields(person),
          ...(person.tags?.length ? { tags: person.tags } : {}),
        })),
      },
    })) as BatchAnswer
    for (const { email_address } of answer.new_members ?? []) statuses.set(emailKey(email_address), 'added')
    for (const { email_address, error_code, error, field_message } of answer.errors ?? []) {
      const why = `${error ?? ''} ${field_message ?? ''}`
      // Skipped here: existing members and people with invalid merge fields are sent one by one later.
      if (error_code === 'ERROR_CONTACT_EXISTS' || mergeFieldPattern.test(why)) continue
      statuses.set(emailKey(email_address), unsubscribedPattern.test(why) ? 'unsubscribed' : 'invalid')
    }
    return statuses
  }

  async #update(store: ProviderStore, listId: string, person: MailingListPerson): Promise<Status> {
    try {
      return await this.#put(store, listId, person, toMergeFields(person))
    } catch (error) {
      if (!(error instanceof MailchimpRefused)) throw error
      if (mergeFieldPattern.test(error.detail)) return this.#putPlain(store, listId, person)
      return toRefusedStatus(error)
    }
  }

  /** Sends only the address, after the audience's merge fields have refused our values. */
  async #putPlain(store: ProviderStore, listId: string, person: MailingListPerson): Promise<Status> {
    try {
      return await this.#put(store, listId, person, {})
    } catch (error) {
      if (error instanceof MailchimpRefused) return toRefusedStatus(error)
      throw error
    }
  }

  async #put(
    store: ProviderStore,
    listId: string,
    { email, tags, isBack }: MailingListPerson,
    fields: Record<string, string>,
  ): Promise<Status> {
    const path = toMemberPath(listId, email)
    const put = async (status: object): Promise<string | undefined> => {
      const answer = await this.#ask(store, {
        method: 'PUT',
        path: `${path}?skip_merge_validation=true`,
        body: { email_address: email.trim(), ...status, merge_fields: fields },
      })
      return (answer as { status?: string }).status
    }
    let status = await put({ status_if_new: 'subscribed' })
    const isOutOnly = status === 'transactional' || status === 'pending'
    const isOurs = status === 'unsubscribed' && isBack === true
    if (isOutOnly || isOurs || (status === 'archived' && !(await this.#hasLeft(store, path)))) {
      status = await put({ status: 'subscribed' })
    }
    if (status === 'unsubscribed' || status === 'archived') return 'unsubscribed'
    if (status === 'cleaned') return 'invalid'
    await this.#tag(store, path, tags)
    return 'updated'
  }

  /** Whether an archived member had unsubscribed. Merchants archive members of every status, to save money. */
  async #hasLeft(store: ProviderStore, path: string): Promise<boolean> {
    const feed = `${path}/activity-feed?activity_filters=unsub&count=10`
    try {
      const { activity = [] } = (await this.#ask(store, { method: 'GET', path: feed })) as {
        activity?: { activity_type?: string }[]
      }
      return activity.some(({ activity_type: type }) => type === 'unsub')
    } catch (error) {
      // Mailchimp deletes the activity of members that were archived long ago.
      if (error instanceof Refused && error.code === 'no-such-list') return false
      throw error
    }
  }

  /** Tags an existing member, because a batch tags only new people. */
  async #tag(store: ProviderStore, path: string, tags: readonly string[] = []): Promise<void> {
    if (tags.length === 0) return
    await this.#ask(store, {
      method: 'POST',
      path: `${path}/tags`,
      body: { tags: tags.map((name) => ({ name, status: 'active' })) },
    })
  }

  async unsubscribe(store: ProviderStore, listId: string, emails: readonly string[]): Promise<string[]> {
    if (emails.length > maxPeoplePerCall) {
      throw new Refused('too-many', `The email provider takes ${maxPeoplePerCall} people at once`)
    }
    const removed: string[] = []
    for (let from = 0; from < emails.length; from += updatesAtOnce) {
      const some = emails.slice(from, from + updatesAtOnce)
      const were = await Promise.all(some.map((email) => this.#takeOff(store, toMemberPath(listId, email))))
      removed.push(...some.filter((_, i) => were[i]))
    }
    return removed
  }

  async #takeOff(store: ProviderStore, path: string): Promise<boolean> {
    try {
      const found = (await this.#ask(store, { method: 'GET', path: `${path}?fields=status` })) as {
        status?: string
      }
      if (found.status !== 'subscribed' && found.status !== 'pending') return false
      await this.#ask(store, { method: 'PATCH', path, body: { status: 'unsubscribed' } })
      return true
    } catch (error) {
      // The person is not a member, or the list was deleted. Either way there is nobody to remove.
      if (error instanceof Refused && error.code === 'no-such-list') return false
      throw error
    }
  }

  async *unsubscribedSince(store: ProviderStore, listId: string, since: Date): AsyncGenerator<string[]> {
    const query = new URLSearchParams({
      status: 'unsubscribed',
      unsubscribed_since: since.toISOString(),
      fields: 'members.email_address,total_items',
      count: String(membersAtOnce),
    })
    for (let offset = 0; ; offset += membersAtOnce) {
      const path = `/lists/${encodeURIComponent(listId)}/members?${query}&offset=${offset}`
      const { members = [] } = (await this.#ask(store, { method: 'GET', path })) as {
        members?: { email_address: string }[]
      }
      if (members.length > 0) yield members.map(({ email_address }) => email_address)
      if (members.length < membersAtOnce) return
    }
  }

  check = (store: ProviderStore, listId?: string | null): Promise<Precondition[]> =>
    checkLists(this, store, listId)

  #ask(store: ProviderStore, request: Parameters<typeof requestMailchimp>[2]): Promise<unknown> {
    const { apiKey } = (store.credentials ?? {}) as { apiKey?: unknown }
    if (typeof apiKey !== 'string' || apiKey === '') {
      throw keyRejected('The store has no API key of the email provider')
    }
    return requestMailchimp(this.#http, apiKey, request)
  }
}

/** A member's id is the MD5 of the lower-case address. */
const toMemberPath = (listId: string, email: string): string =>
  `/lists/${encodeURIComponent(listId)}/members/${createHash('md5').update(emailKey(email)).digest('hex')}`

interface BatchAnswer {
  new_members?: { email_address: string }[]
  errors?: { email_address: string; error_code?: string; error?: string; field_message?: string }[]
}

function toMergeFields({ name, phone }: MailingListPerson): Record<string, string> {
  const { given, others } = splitName(name)
  return {
    ...(given ? { FNAME: given } : {}),
    ...(others.length > 0 ? { LNAME: others.join(' ') } : {}),
    ...(phone ? { PHONE: phone } : {}),
  }
}

const toRefusedStatus = (refused: MailchimpRefused): Status =>
  unsubscribedPattern.test(`${refused.title} ${refused.detail}`) ? 'unsubscribed' : 'invalid'
