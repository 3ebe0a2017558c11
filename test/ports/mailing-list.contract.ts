import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MailingListPerson, MailingListPort } from '#operations/capture/mailing-list/port'
import { Refused, Unavailable } from '#runtime/ports/errors'
import type { ProviderStore } from '#runtime/ports/provider'
import { testsBeginAt } from '#test/support/test-clock'

interface Member {
  email: string
  name: string | null
  phone: string | null
}

export interface MailingListSetting {
  port: MailingListPort
  store: ProviderStore
  /** A list of the account, and an unsubscribed address of it. */
  listId: string
  leaver: string
  /** The members who get the provider's emails. */
  subscribed(): Promise<Member[]>
  /** A member's tags, however the adapter stores them. */
  tagsOf(email: string): Promise<readonly string[]>
  /** Unsubscribes a member at the provider. */
  leave(email: string): Promise<void>
  setDown(isDown: boolean): Promise<void>
  close(): Promise<void>
}

let people = 0
export const aPerson = (change: Partial<MailingListPerson> = {}): MailingListPerson => {
  people += 1
  return {
    email: `person${people}@example.com`,
    name: `Ana Souza ${people}`,
    phone: `+5511988${String(people).padStart(6, '0')}`,
    ...change,
  }
}

/** The contract of every mailing list adapter. */
export function mailingListContract(name: string, open: () => Promise<MailingListSetting>): void {
  describe(`${name} mailing list`, () => {
    let setting: MailingListSetting
    beforeAll(async () => {
      setting = await open()
    })
    afterAll(() => setting.close())

    const push = (...given: MailingListPerson[]) =>
      setting.port.upsertSubscribers(setting.store, setting.listId, given)
    const find = async (email: string) =>
      (await setting.subscribed()).find((member) => member.email.toLowerCase() === email.toLowerCase())

    test('the lists of the account are named', async () => {
      const lists = await setting.port.lists(setting.store)
      expect(lists).toContainEqual({ id: setting.listId, name: expect.any(String) })
    })

    test('new members are added and existing ones updated, in the given order', async () => {
      const [one, two] = [aPerson(), aPerson()]
      expect(await push(one)).toEqual([{ email: one.email, status: 'added' }])
      const renamed = { ...one, name: 'Bia Lima', tags: ['vip'] }
      expect(await push(two, renamed)).toEqual([
        { email: two.email, status: 'added' },
        { email: one.email, status: 'updated' },
      ])
      expect(await find(one.email)).toMatchObject({ name: 'Bia Lima', phone: one.phone })
      expect(await push(two, renamed)).toEqual([
        { email: two.email, status: 'updated' },
        { email: one.email, status: 'updated' },
      ])
    })

    test('addresses ignore case, also within a call; the last one wins', async () => {
      const person = aPerson()
      const loud = { ...person, email: person.email.toUpperCase(), name: 'Loud Name' }
      const answers = await push(person, loud)
      expect(answers.map(({ email }) => email)).toEqual([person.email, loud.email])
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(['added']))
      expect(await push(person)).toEqual([{ email: person.email, status: 'updated' }])
      const all = await setting.subscribed()
      expect(all.filter(({ email }) => email.toLowerCase() === person.email)).toHaveLength(1)
    })

    test('unsubscribed members stay out; invalid addresses are reported; the others are added', async () => {
      const good = aPerson()
      const answers = await push(
        aPerson({ email: setting.leaver }),
        aPerson({ email: 'invalid@example.com' }),
        good,
      )
      expect(answers.map(({ status }) => status)).toEqual(['unsubscribed', 'invalid', 'added'])
      expect(await find(setting.leaver)).toBeUndefined()
      expect(await find('invalid@example.com')).toBeUndefined()
    })

    test('members without name and phone are added', async () => {
      const person = aPerson({ name: null, phone: null })
      expect(await push(person)).toEqual([{ email: person.email, status: 'added' }])
      expect(await find(person.email)).toMatchObject({ name: null, phone: null })
    })

    test('tags are added to new and existing members, and stay', async () => {
      const person = aPerson({ tags: ['vip'] })
      await push(person)
      expect(await setting.tagsOf(person.email)).toEqual(['vip'])
      await push({ ...person, tags: ['back-in-stock'] })
      await push({ ...person, tags: [] })
      expect([...(await setting.tagsOf(person.email))].sort()).toEqual(['back-in-stock', 'vip'])
    })

    test('a member who unsubscribes here is removed there; a new consent adds them again', async () => {
      const [one, two] = [aPerson(), aPerson()]
      await push(one, two)
      const off = (...emails: string[]) => setting.port.unsubscribe(setting.store, setting.listId, emails)
      expect(await off(one.email, 'nobody@example.com')).toEqual([one.email])
      expect(await find(one.email)).toBeUndefined()
      expect(await find(two.email)).toBeDefined()
      expect(await off(one.email)).toEqual([])
      await off(setting.leaver)
      expect((await push(aPerson({ email: setting.leaver })))[0]!.status).toBe('unsubscribed')
      expect(await off()).toEqual([])
      expect(await push({ ...one, isBack: true })).toEqual([{ email: one.email, status: 'updated' }])
      expect(await find(one.email)).toBeDefined()
    })

    test('a member who unsubscribes there is reported, and an older consent does not add them again', async () => {
      const [before, after, stays] = [aPerson(), aPerson(), aPerson()]
      await push(before, after, stays)
      const readUnsubscribed = async (since: Date) => {
        const emails: string[] = []
        for await (const page of setting.port.unsubscribedSince(setting.store, setting.listId, since))
          emails.push(...page)
        return emails.map((email) => email.toLowerCase())
      }
      const begin = new Date(new Date(testsBeginAt).getTime() - 60_000)
      await setting.leave(before.email)
      await setting.leave(after.email)
      const left = await readUnsubscribed(begin)
      expect(left).toContain(before.email)
      expect(left).toContain(after.email)
      expect(left).not.toContain(stays.email)
      expect(await readUnsubscribed(new Date('2100-01-01T00:00:00Z'))).toEqual([])
      expect((await push({ ...after, isBack: true }))[0]!.status).toBe('unsubscribed')
      expect(await find(after.email)).toBeUndefined()
    })

    test('a check finds what is missing, and changes nothing', async () => {
      const before = await setting.subscribed()
      const faults = async (listId: string | null, store = setting.store) =>
        (await setting.port.check(store, listId)).filter(({ isFine }) => !isFine)
      expect(await faults(setting.listId)).toEqual([])
      for (const listId of [null, 'nothing'])
        expect(await faults(listId)).toMatchObject([
          { code: 'list', remedy: expect.stringContaining(setting.listId) },
        ])
      const stranger = { ...setting.store, credentials: { apiKey: 'invalid' } }
      expect(await faults(setting.listId, stranger)).toMatchObject([{ code: 'list-key-refused' }])
      expect(await setting.subscribed()).toEqual(before)
    })

    test('at most 500 at once; an empty call does nothing', async () => {
      const many = Array.from({ length: 500 }, () => aPerson())
      const answers = await push(...many)
      expect(answers).toHaveLength(500)
      expect(answers.every(({ status }) => status === 'added')).toBe(true)
      await expect(push(...many, aPerson())).rejects.toBeInstanceOf(Refused)
      expect(await push()).toEqual([])
    })

    test('an unknown list', async () => {
      await expect(
        setting.port.upsertSubscribers(setting.store, 'nothing', [aPerson()]),
      ).rejects.toMatchObject({
        name: 'Refused',
        code: 'no-such-list',
      })
    })

    test('an outage, or rejected credentials, are Unavailable', async () => {
      await setting.setDown(true)
      await expect(push(aPerson())).rejects.toBeInstanceOf(Unavailable)
      await expect(setting.port.lists(setting.store)).rejects.toBeInstanceOf(Unavailable)
      await setting.setDown(false)
      const stranger = { ...setting.store, credentials: { apiKey: 'invalid' } }
      await expect(setting.port.lists(stranger)).rejects.toMatchObject({
        name: 'AccessLost',
        code: 'list-key-refused',
        remedy: expect.any(String),
      })
      expect((await push(aPerson()))[0]!.status).toBe('added')
    })
  })
}
