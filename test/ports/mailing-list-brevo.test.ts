import { afterEach, describe, expect, test } from 'vitest'
import { BrevoMailingList } from '#operations/capture/mailing-list/brevo'
import { type BrevoStandIn, brevoStandIn, type StandInContact } from './brevo-stand-in.ts'
import { aPerson, mailingListContract } from './mailing-list.contract.ts'

const brevoKey = 'xkeysib-0123456789abcdef'
const opened: BrevoStandIn[] = []
afterEach(async () => {
  for (const standIn of opened.splice(0)) await standIn.close()
})

async function brevo() {
  const standIn = await brevoStandIn(brevoKey)
  const port = new BrevoMailingList({
    endpoint: standIn.endpoint,
    timeoutMs: 5000,
    retryDelayMs: 1,
    maxPauseMs: 50,
  })
  return { standIn, port, store: { id: 'store', credentials: { apiKey: brevoKey } } }
}

mailingListContract('Brevo', async () => {
  const { standIn, port, store } = await brevo()
  standIn.add('unsub@example.com', { emailBlacklisted: true, listIds: [2] })
  return {
    port,
    store,
    listId: '2',
    leaver: 'unsub@example.com',
    subscribed: async () =>
      [...standIn.contacts.values()]
        .filter(({ listIds, emailBlacklisted }) => listIds.includes(2) && !emailBlacklisted)
        .map(({ email, attributes: { FIRSTNAME, LASTNAME, SMS } }) => ({
          email,
          name: [FIRSTNAME, LASTNAME].filter(Boolean).join(' ') || null,
          phone: (SMS as string | undefined) ?? null,
        })),
    tagsOf: async (email) =>
      Object.entries(standIn.contacts.get(email)?.attributes ?? {})
        .filter(([, value]) => value === true)
        .map(([name]) => name.toLowerCase().replaceAll('_', '-')),
    async leave(email) {
      Object.assign(standIn.contacts.get(email)!, {
        emailBlacklisted: true,
        modifiedAt: standIn.now,
      })
    },
    async setDown(isDown) {
      standIn.isDown = isDown
    },
    close: () => standIn.close(),
  }
})

describe('Brevo', () => {
  const started = async () => {
    const all = await brevo()
    opened.push(all.standIn)
    const push = (...people: Parameters<typeof all.port.upsertSubscribers>[2]) =>
      all.port.upsertSubscribers(all.store, '2', people)
    return { ...all, push }
  }
  const contactOf = (standIn: BrevoStandIn, email: string): StandInContact => standIn.contacts.get(email)!

  test('a contact of another list is added to ours; one who unsubscribed from ours stays out', async () => {
    const { standIn, push } = await started()
    standIn.lists.set(3, 'Other')
    standIn.add('other@example.com', { listIds: [3] })
    standIn.add('left@example.com', { listIds: [3], listUnsubscribed: [2] })
    const answers = await push(
      aPerson({ email: 'other@example.com' }),
      aPerson({ email: 'left@example.com' }),
    )
    expect(answers.map(({ status }) => status)).toEqual(['updated', 'unsubscribed'])
    expect(contactOf(standIn, 'other@example.com').listIds).toEqual([3, 2])
    expect(contactOf(standIn, 'left@example.com')).toMatchObject({ listIds: [3], listUnsubscribed: [2] })
  })

  test('a phone that another contact has, or that Brevo rejects, is left out', async () => {
    const { standIn, push } = await started()
    const [one, two] = [aPerson({ phone: '+5511988887777' }), aPerson({ phone: '+5511988887777' })]
    const odd = aPerson({ phone: '+12' })
    expect((await push(one, two, odd)).map(({ status }) => status)).toEqual(['added', 'added', 'added'])
    const phones = [one, two, odd].map(({ email }) => contactOf(standIn, email).attributes.SMS)
    expect(phones.filter(Boolean)).toEqual(['+5511988887777'])
    expect((await push(one, two, odd)).map(({ status }) => status)).toEqual(['updated', 'updated', 'updated'])
  })

  test("names use the attributes of the account's language; tags use an attribute if there is one", async () => {
    const { standIn, port, store, push } = await started()
    standIn.attributes.clear()
    for (const name of ['PRENOM', 'NOM', 'SMS']) standIn.attributes.set(name, 'text')
    const person = aPerson({ name: 'Ana de Souza', tags: ['back-in-stock'] })
    await push(person)
    expect(contactOf(standIn, person.email).attributes).toEqual({
      PRENOM: 'Ana',
      NOM: 'de Souza',
      SMS: person.phone,
    })
    const faults = (await port.check(store, '2')).filter(({ isFine }) => !isFine)
    expect(faults).toMatchObject([{ code: 'tags', remedy: expect.stringContaining('BACK_IN_STOCK') }])
    standIn.attributes.clear()
    expect((await port.check(store, '2')).filter(({ isFine }) => !isFine)).toHaveLength(2)
  })

  test('at most five run in parallel; a contact created meanwhile is updated', async () => {
    const { standIn, push } = await started()
    const people = Array.from({ length: 23 }, () => aPerson())
    await push(...people)
    expect(standIn.busiest).toBeLessThanOrEqual(5)
    const person = aPerson()
    // The first lookup finds nobody.
    standIn.add(person.email)
    standIn.faults.push({ status: 200, body: {} }, { status: 200, body: { attributes: [] } }, { status: 404 })
    expect(await push(person)).toEqual([{ email: person.email, status: 'updated' }])
    expect(contactOf(standIn, person.email).listIds).toEqual([2])
  })

  test('an address that is taken and cannot be found is not retried forever', async () => {
    const { standIn, push } = await started()
    const taken = { code: 'duplicate_parameter', metadata: { duplicate_identifiers: ['email'] } }
    const lookupAnswers = [{ status: 404 }, { status: 400, body: taken }]
    const setupAnswers = [
      { status: 200, body: {} },
      { status: 200, body: { attributes: [] } },
    ]
    standIn.faults.push(...setupAnswers, ...lookupAnswers, ...lookupAnswers)
    const person = aPerson()
    standIn.add(person.email)
    expect(await push(person)).toEqual([{ email: person.email, status: 'invalid' }])
    expect(standIn.faults).toEqual([])
  })

  test('a short rate limit is waited for, a long one is reported; errors are retried', async () => {
    const { standIn, push } = await started()
    const limited = (reset: string) => ({ status: 429, headers: { 'x-sib-ratelimit-reset': reset } })
    standIn.faults.push(limited('0.01'), { status: 502 }, 'drop')
    expect((await push(aPerson()))[0]!.status).toBe('added')
    standIn.faults.push(limited('3600'))
    await expect(push(aPerson())).rejects.toMatchObject({ name: 'Throttled', retryAfterMs: 3_600_000 })
    standIn.faults.push({ status: 402, body: { code: 'not_enough_credits', message: 'No\ncredits' } })
    await expect(push(aPerson())).rejects.toMatchObject({
      name: 'Refused',
      message: 'The email provider refused this: No credits',
    })
  })

  test('150 are removed by one request; lists are read to their end', async () => {
    const { standIn, port, store, push } = await started()
    const people = Array.from({ length: 160 }, () => aPerson())
    await push(...people)
    standIn.requests.splice(0)
    const emails = people.map(({ email }) => email)
    expect(await port.unsubscribe(store, '2', emails)).toEqual(emails)
    expect(standIn.requests).toEqual(Array(2).fill('POST /v3/contacts/lists/2/contacts/remove'))
    for (let id = 10; id < 120; id += 1) standIn.lists.set(id, `List ${id}`)
    expect(await port.lists(store)).toHaveLength(111)
  })

  test('no message contains the key', async () => {
    const { port } = await started()
    for (const apiKey of ['xkeysib-wrong', 'with\nbreak', '', null]) {
      const error = await port
        .lists({ id: 'store', credentials: { apiKey } })
        .catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ name: 'AccessLost', code: 'list-key-refused' })
      expect((error as Error).message).not.toContain(apiKey || 'nothing')
    }
  })
})
