/**
 * Mailchimp's Marketing API. Credentials of a store: `{ apiKey }`, from the account's extras. New people go in by one
 * batch, which leaves those alone who are there already (`update_existing: false`); those are updated one by one with
 * `status_if_new`, which never subscribes again who left. Its answer tells who never left and gets no campaigns all the
 * same (`transactional`, `pending`, `archived`): they become subscribed by a second request.
 */
import { createHash } from 'node:crypto'
import { Refused } from '#runtime/ports/errors'
import type { Finding, ProviderStore } from '#runtime/ports/provider'
import { emailKey } from '#runtime/values/email'
import { usualTimes } from './http.ts'
import { askMailchimp, keyLost, type MailchimpHttpOptions, MailchimpRefused } from './mailchimp-http.ts'
import {
  checkLists,
  type MailingListPerson,
  type MailingListPort,
  type PushedPerson,
  peopleAtOnce,
} from './port.ts'

type Status = PushedPerson['status']

/** The account allows ten connections at once, and others may use it too. */
const updatesAtOnce = 5
const listsAtMost = 1000
const membersAtOnce = 1000

const leftWords = /compliance state|permanently deleted|forgotten|unsubscribed/i
const mergeWords = /merge field/i

/** Reads `mailchimp://api.mailchimp.com`: the domain whose hosts are the data centres. Throws what is wrong with it. */
export function mailchimpUrl(text: string): Pick<MailchimpHttpOptions, 'endpoint'> {
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
    this.#http = { ...usualTimes, ...options }
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
    if (people.length > peopleAtOnce) {
      throw new Refused('too-many', `The email provider takes ${peopleAtOnce} people at once`)
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

  /** Adds those who are new, and says whom it will not take; who is there already is left out of the answer. */
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
          merge_fields: mergeFields(person),
          ...(person.tags?.length ? { tags: person.tags } : {}),
        })),
      },
    })) as BatchAnswer
    for (const { email_address } of answer.new_members ?? []) statuses.set(emailKey(email_address), 'added')
    for (const { email_address, error_code, error, field_message } of answer.errors ?? []) {
      const why = `${error ?? ''} ${field_message ?? ''}`
      // Those who are there, and those whose other fields were wrong, have their turn alone.
      if (error_code === 'ERROR_CONTACT_EXISTS' || mergeWords.test(why)) continue
      statuses.set(emailKey(email_address), leftWords.test(why) ? 'unsubscribed' : 'invalid')
    }
    return statuses
  }

  async #update(store: ProviderStore, listId: string, person: MailingListPerson): Promise<Status> {
    try {
      return await this.#put(store, listId, person, mergeFields(person))
    } catch (error) {
      if (!(error instanceof MailchimpRefused)) throw error
      if (mergeWords.test(error.detail)) return this.#putPlain(store, listId, person)
      return refusedStatus(error)
    }
  }

  /** The audience has fields of its own that our values do not fit: the address alone. */
  async #putPlain(store: ProviderStore, listId: string, person: MailingListPerson): Promise<Status> {
    try {
      return await this.#put(store, listId, person, {})
    } catch (error) {
      if (error instanceof MailchimpRefused) return refusedStatus(error)
      throw error
    }
  }

  async #put(
    store: ProviderStore,
    listId: string,
    { email, tags, isBack }: MailingListPerson,
    fields: Record<string, string>,
  ): Promise<Status> {
    const path = memberPath(listId, email)
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

  /** Of somebody who was put away: the merchant does that to save money, and with people who have left too. */
  async #hasLeft(store: ProviderStore, path: string): Promise<boolean> {
    const feed = `${path}/activity-feed?activity_filters=unsub&count=10`
    try {
      const { activity = [] } = (await this.#ask(store, { method: 'GET', path: feed })) as {
        activity?: { activity_type?: string }[]
      }
      return activity.some(({ activity_type: type }) => type === 'unsub')
    } catch (error) {
      // Nothing is kept of who was put away long ago.
      if (error instanceof Refused && error.code === 'no-such-list') return false
      throw error
    }
  }

  /** A batch tags new people only. */
  async #tag(store: ProviderStore, path: string, tags: readonly string[] = []): Promise<void> {
    if (tags.length === 0) return
    await this.#ask(store, {
      method: 'POST',
      path: `${path}/tags`,
      body: { tags: tags.map((name) => ({ name, status: 'active' })) },
    })
  }

  async unsubscribe(store: ProviderStore, listId: string, emails: readonly string[]): Promise<string[]> {
    if (emails.length > peopleAtOnce) {
      throw new Refused('too-many', `The email provider takes ${peopleAtOnce} people at once`)
    }
    const gone: string[] = []
    for (let from = 0; from < emails.length; from += updatesAtOnce) {
      const some = emails.slice(from, from + updatesAtOnce)
      const were = await Promise.all(some.map((email) => this.#takeOff(store, memberPath(listId, email))))
      gone.push(...some.filter((_, i) => were[i]))
    }
    return gone
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
      // Nobody of this list, or a list that is gone: nobody gets anything by it.
      if (error instanceof Refused && error.code === 'no-such-list') return false
      throw error
    }
  }

  async *leftSince(store: ProviderStore, listId: string, since: Date): AsyncGenerator<string[]> {
    const asked = new URLSearchParams({
      status: 'unsubscribed',
      unsubscribed_since: since.toISOString(),
      fields: 'members.email_address,total_items',
      count: String(membersAtOnce),
    })
    for (let offset = 0; ; offset += membersAtOnce) {
      const path = `/lists/${encodeURIComponent(listId)}/members?${asked}&offset=${offset}`
      const { members = [] } = (await this.#ask(store, { method: 'GET', path })) as {
        members?: { email_address: string }[]
      }
      if (members.length > 0) yield members.map(({ email_address }) => email_address)
      if (members.length < membersAtOnce) return
    }
  }

  check = (store: ProviderStore, listId?: string | null): Promise<Finding[]> =>
    checkLists(this, store, listId)

  #ask(store: ProviderStore, request: Parameters<typeof askMailchimp>[2]): Promise<unknown> {
    const { apiKey } = (store.credentials ?? {}) as { apiKey?: unknown }
    if (typeof apiKey !== 'string' || apiKey === '') {
      throw keyLost('The store has no API key of the email provider')
    }
    return askMailchimp(this.#http, apiKey, request)
  }
}

/** Members are known by the MD5 of their address in lower case. */
const memberPath = (listId: string, email: string): string =>
  `/lists/${encodeURIComponent(listId)}/members/${createHash('md5').update(emailKey(email)).digest('hex')}`

interface BatchAnswer {
  new_members?: { email_address: string }[]
  errors?: { email_address: string; error_code?: string; error?: string; field_message?: string }[]
}

function mergeFields({ name, phone }: MailingListPerson): Record<string, string> {
  const [first = '', ...others] = (name ?? '').trim().split(/\s+/)
  return {
    ...(first ? { FNAME: first } : {}),
    ...(others.length > 0 ? { LNAME: others.join(' ') } : {}),
    ...(phone ? { PHONE: phone } : {}),
  }
}

const refusedStatus = (refused: MailchimpRefused): Status =>
  leftWords.test(`${refused.title} ${refused.detail}`) ? 'unsubscribed' : 'invalid'
