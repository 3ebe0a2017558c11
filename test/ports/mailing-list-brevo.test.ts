import { afterEach, describe, expect, test } from 'vitest'
import { BrevoMailingList } from '#operations/capture/mailing-list/brevo'
import { type BrevoStandIn, brevoStandIn, type StandInContact } from './brevo-stand-in.ts'
import { aPerson, mailingListContract } from './mailing-list.contract.ts'

const brevoKey = 'xkeysib-0123456789abcdef'
const opened: BrevoStandIn[] = []
afterEach(async () => {
  for (const standIn of opened.splice(0)) await standIn.close()
})

const readReport = async (address: string): Promise<string> => (await fetch(address)).text()

async function brevo(timeoutMs = 5000) {
  const standIn = await brevoStandIn(brevoKey)
  const port = new BrevoMailingList({
    endpoint: standIn.endpoint,
    timeoutMs,
    fetchReport: readReport,
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
  const started = async (timeoutMs?: number) => {
    const all = await brevo(timeoutMs)
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

  const countRequests = (standIn: BrevoStandIn): Record<string, number> => {
    const counts: Record<string, number> = {}
    for (const request of standIn.requests.splice(0)) {
      const name = decodeURIComponent(request)
        .replace(/\/[^/]+@.*$/, '/:email')
        .replace(/\d+$/, ':id')
      counts[name] = (counts[name] ?? 0) + 1
    }
    return counts
  }

  test('many people are imported by one request, and nobody is looked up in a small account', async () => {
    const { standIn, push } = await started()
    standIn.add('left@example.com', { listUnsubscribed: [2] })
    standIn.add('black@example.com', { emailBlacklisted: true })
    standIn.add('there@example.com', { listIds: [] })
    const people = Array.from({ length: 497 }, () => aPerson({ tags: ['vip'] }))
    const known = ['left', 'black', 'there'].map((name) => aPerson({ email: `${name}@example.com` }))
    const statuses = (await push(...known, ...people)).map(({ status }) => status)
    expect(statuses.slice(0, 3)).toEqual(['unsubscribed', 'unsubscribed', 'updated'])
    expect(new Set(statuses.slice(3))).toEqual(new Set(['added']))
    expect(contactOf(standIn, 'left@example.com')).toMatchObject({ listIds: [], listUnsubscribed: [2] })
    expect(contactOf(standIn, 'black@example.com')).toMatchObject({ listIds: [], emailBlacklisted: true })
    expect(contactOf(standIn, people[0]!.email)).toMatchObject({
      listIds: [2],
      attributes: { FIRSTNAME: 'Ana', SMS: people[0]!.phone, VIP: true },
    })
    expect(countRequests(standIn)).toEqual({
      ...{ 'GET /v3/contacts/lists/:id': 1, 'GET /v3/contacts/attributes': 1 },
      ...{ 'GET /v3/contacts': 2, 'POST /v3/contacts/import': 1, 'GET /v3/processes/:id': 3 },
    })
  })

  test('in a large account the people are looked up, and then imported', async () => {
    const { standIn, push } = await started()
    for (let i = 0; i < 3_001; i += 1) standIn.add(`other${i}@example.com`)
    const people = Array.from({ length: 30 }, () => aPerson())
    expect(new Set((await push(...people)).map(({ status }) => status))).toEqual(new Set(['added']))
    expect(countRequests(standIn)).toMatchObject({
      'GET /v3/contacts': 1,
      'GET /v3/contacts/:email': 30,
      'POST /v3/contacts/import': 1,
    })
  })

  test('people whom an import leaves out are sent one by one', async () => {
    const { standIn, push } = await started()
    standIn.add('owner@example.com', { attributes: { SMS: '+5511977776666' } })
    const people = Array.from({ length: 30 }, () => aPerson())
    const odd = [aPerson({ email: 'invalid@example.com' }), aPerson({ phone: '+5511977776666' })]
    const statuses = (await push(...people, ...odd)).map(({ status }) => status)
    expect(statuses.slice(30)).toEqual(['invalid', 'added'])
    expect(contactOf(standIn, odd[1]!.email)).toMatchObject({
      listIds: [2],
      attributes: { FIRSTNAME: 'Ana' },
    })
    // The first attempt has the phone.
    expect(countRequests(standIn)).toMatchObject({ 'POST /v3/contacts/import': 1, 'POST /v3/contacts': 3 })
  })

  test('an import that fails or does not end is an outage, and may be repeated', async () => {
    const { standIn, push } = await started(50)
    const people = Array.from({ length: 30 }, () => aPerson())
    standIn.imports = { asks: 1, end: 'failed' }
    await expect(push(...people)).rejects.toMatchObject({ name: 'Unavailable', accepted: 'unknown' })
    standIn.imports = { asks: 10_000, end: 'completed' }
    await expect(push(...people)).rejects.toThrow('has not finished the import')
    standIn.imports = { asks: 1, end: 'completed' }
    expect(new Set((await push(...people)).map(({ status }) => status))).toEqual(new Set(['updated']))
  })

  test('consent groups decide who may be written to, and people join the chosen one', async () => {
    const { standIn, port, store } = await started()
    const consents = async (credentials: object) =>
      (await port.check({ ...store, credentials }, '2')).filter(({ code }) => code === 'consent')
    expect(await consents({ apiKey: brevoKey })).toMatchObject([{ isFine: true }])
    expect(await consents({ apiKey: brevoKey, consentGroupId: 7 })).toMatchObject([{ isFine: false }])
    standIn.consentGroups = [
      { id: 7, name: 'Newsletter' },
      { id: 8, name: 'Offers' },
    ]
    expect(await consents({ apiKey: brevoKey })).toMatchObject([
      { isFine: false, remedy: expect.stringContaining('7 (Newsletter), 8 (Offers)') },
    ])
    expect(await consents({ apiKey: brevoKey, consentGroupId: '7' })).toMatchObject([{ isFine: true }])
    const groups = (newsletter: 'subscribed' | 'unsubscribed', offers: 'subscribed' | 'unsubscribed') => ({
      consentGroups: [
        { id: 7, status: newsletter },
        { id: 8, status: offers },
      ],
    })
    standIn.add('both@example.com', groups('unsubscribed', 'unsubscribed'))
    standIn.add('news@example.com', groups('unsubscribed', 'subscribed'))
    standIn.add('offers@example.com', groups('subscribed', 'unsubscribed'))
    const people = ['both', 'news', 'offers', 'nobody'].map((name) =>
      aPerson({ email: `${name}@example.com` }),
    )
    const push = async (credentials: object) =>
      (await port.upsertSubscribers({ ...store, credentials }, '2', people)).map(({ status }) => status)
    const left = async (credentials: object) => {
      const found: string[] = []
      for await (const page of port.unsubscribedSince({ ...store, credentials }, '2', new Date(0)))
        found.push(...page)
      return found.sort()
    }
    const chosen = { apiKey: brevoKey, consentGroupId: 7 }
    expect(await left(chosen)).toEqual(['both@example.com', 'news@example.com'])
    expect(await left({ apiKey: brevoKey })).toEqual(['both@example.com'])
    expect(await push(chosen)).toEqual(['unsubscribed', 'unsubscribed', 'updated', 'added'])
    expect(contactOf(standIn, 'nobody@example.com').consentGroups).toEqual([{ id: 7, status: 'subscribed' }])
    expect(contactOf(standIn, 'news@example.com')).toMatchObject({
      listIds: [],
      ...groups('unsubscribed', 'subscribed'),
    })
    expect(await push({ apiKey: brevoKey })).toEqual(['unsubscribed', 'updated', 'updated', 'updated'])
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
