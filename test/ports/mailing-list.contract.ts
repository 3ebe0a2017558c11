import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Refused, Unavailable } from '#runtime/ports/errors'
import type { MailingListPerson, MailingListPort } from '#runtime/ports/mailing-list/port'
import type { ProviderStore } from '#runtime/ports/provider'

export interface Member {
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
  setDown(isDown: boolean): Promise<void>
  close(): Promise<void>
}

let people = 0
export const aPerson = (change: Partial<MailingListPerson> = {}): MailingListPerson => {
  people += 1
  return {
    email: `person${people}@example.com`,
    name: `Ana Souza ${people}`,
    phone: '+5511988887777',
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
      await expect(setting.port.lists(stranger)).rejects.toBeInstanceOf(Unavailable)
      expect((await push(aPerson()))[0]!.status).toBe('added')
    })
  })
}
