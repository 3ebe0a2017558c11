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
  /** A list of the account, and an address of it that has left. */
  listId: string
  leaver: string
  /** Who the provider sends emails to. */
  subscribed(): Promise<Member[]>
  /** Tags of somebody, by the adapter's own way of keeping them. */
  tagsOf(email: string): Promise<readonly string[]>
  /** Somebody leaves there by themselves. */
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

/** What every adapter of the port does, whatever is behind it. */
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

    test('names the lists of the account', async () => {
      const lists = await setting.port.lists(setting.store)
      expect(lists).toContainEqual({ id: setting.listId, name: expect.any(String) })
    })

    test('adds who is new, updates who is there, in the order given', async () => {
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

    test('an address is one without case, also within a call; the last of it holds', async () => {
      const person = aPerson()
      const loud = { ...person, email: person.email.toUpperCase(), name: 'Loud Name' }
      const answers = await push(person, loud)
      expect(answers.map(({ email }) => email)).toEqual([person.email, loud.email])
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(['added']))
      expect(await push(person)).toEqual([{ email: person.email, status: 'updated' }])
      const all = await setting.subscribed()
      expect(all.filter(({ email }) => email.toLowerCase() === person.email)).toHaveLength(1)
    })

    test('who has left stays out; what is no address is told; the others go in', async () => {
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

    test('without name and phone', async () => {
      const person = aPerson({ name: null, phone: null })
      expect(await push(person)).toEqual([{ email: person.email, status: 'added' }])
      expect(await find(person.email)).toMatchObject({ name: null, phone: null })
    })

    test('tags reach who is new and who is there, and stay', async () => {
      const person = aPerson({ tags: ['vip'] })
      await push(person)
      expect(await setting.tagsOf(person.email)).toEqual(['vip'])
      await push({ ...person, tags: ['back-in-stock'] })
      await push({ ...person, tags: [] })
      expect([...(await setting.tagsOf(person.email))].sort()).toEqual(['back-in-stock', 'vip'])
    })

    test('who left here is taken off there; with a new consent they come back', async () => {
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

    test('who left there is told since then, and no consent that we know of brings them back', async () => {
      const [before, after, stays] = [aPerson(), aPerson(), aPerson()]
      await push(before, after, stays)
      const told = async (since: Date) => {
        const emails: string[] = []
        for await (const page of setting.port.leftSince(setting.store, setting.listId, since))
          emails.push(...page)
        return emails.map((email) => email.toLowerCase())
      }
      const begin = new Date(new Date(testsBeginAt).getTime() - 60_000)
      await setting.leave(before.email)
      await setting.leave(after.email)
      const left = await told(begin)
      expect(left).toContain(before.email)
      expect(left).toContain(after.email)
      expect(left).not.toContain(stays.email)
      expect(await told(new Date('2100-01-01T00:00:00Z'))).toEqual([])
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

    test('500 at once and no more; nobody is nobody', async () => {
      const many = Array.from({ length: 500 }, () => aPerson())
      const answers = await push(...many)
      expect(answers).toHaveLength(500)
      expect(answers.every(({ status }) => status === 'added')).toBe(true)
      await expect(push(...many, aPerson())).rejects.toBeInstanceOf(Refused)
      expect(await push()).toEqual([])
    })

    test('a list that there is not', async () => {
      await expect(
        setting.port.upsertSubscribers(setting.store, 'nothing', [aPerson()]),
      ).rejects.toMatchObject({
        name: 'Refused',
        code: 'no-such-list',
      })
    })

    test('down, or credentials that it does not take: unavailable', async () => {
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
