// biome-ignore-all lint/nursery/noJsRestrictedProperties: it moves the stopwatch of a process that stood still, and claims are dated by the database
/** Claims on Idempotency-Keys: a request that lost its claim commits nothing, also over two instances. */
import { randomUUID } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { afterAll, afterEach, describe, expect, inject, test, vi } from 'vitest'
import type { Context } from '#runtime/context'
import { refuse, refuseTemporarily } from '#runtime/errors'
import { Claim } from '#runtime/gateway/idempotency'
import { type Operation, operation } from '#runtime/operation'
import { Unavailable } from '#runtime/ports/errors'
import { loadOperation } from '#runtime/registry/registry'
import { object, z } from '#runtime/schema'
import { type Section, section } from '#runtime/section'
import { freshDatabase, testApp, wholeRegistry } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

/** Actions of a handler between its write and its end, by the `name` of the body. */
const beforeEnd = new Map<string, (ctx: Context) => Promise<void>>()
/** Actions after its commit. */
const afterCommits = new Map<string, (ctx: Context) => Promise<unknown>>()
const runs = new Map<string, number>()
const hash = { meaning: 'h', text: 'h' }

const buildOperation = (path: string, transaction: 'whole' | 'statement' | 'own'): Operation =>
  operation({
    method: 'POST',
    path,
    description: 'Make a tag.',
    scopes: [],
    readOnly: false,
    transaction,
    input: { body: object({ name: z.string() }) },
    answer: { status: 201, body: object({ run: z.number() }) },
    async handler(ctx, { body }) {
      const run = (runs.get(body.name) ?? 0) + 1
      runs.set(body.name, run)
      const act = run === 1 ? beforeEnd.get(body.name) : undefined
      if (transaction === 'own') await act?.(ctx)
      const write = async (tx: Context) => {
        const now = tx.now()
        const name = `${body.name} ${run}`
        await tx.db
          .insertInto('inbox_tags')
          .values({ id: tx.newId(), name, color: '#111111', created_at: now, updated_at: now })
          .execute()
        if (transaction !== 'own') await act?.(tx)
      }
      await (transaction === 'own' ? ctx.transaction(write) : write(ctx))
      if (run === 1) await afterCommits.get(body.name)?.(ctx)
      return { run }
    },
  })

const whole = buildOperation('/made-up/whole', 'whole')
const statement = buildOperation('/made-up/statement', 'statement')
const own = buildOperation('/made-up/own', 'own')
const madeUpSection: Section = section({
  title: 'Made up',
  description: 'Not there.',
  position: 99,
  order: [],
})

const originalTake = Claim.prototype.take
const registry = await wholeRegistry()
const options = {
  registry: {
    ...registry,
    operations: [
      ...registry.operations,
      ...[whole, statement, own].map((each, at) => loadOperation(`made-up-${at}.ts`, madeUpSection, each)),
    ],
    sections: [...registry.sections, madeUpSection],
  },
}
const { database } = await freshDatabase()
const app = await testApp({}, { ...options, database, shared: true })
/** Another server on the same database. */
const other = await testApp({}, { ...options, database, shared: true })

let names = 0
const newName = () => {
  names += 1
  return `tag-${names}`
}
const buildHeaders = (name: string) => ({ 'idempotency-key': `key-of-${name}` })
const call = (shop: Shop, { spec }: Operation, name: string) =>
  shop.request(spec.method, spec.path, { body: { name }, headers: buildHeaders(name) })
const callOther = async (shop: Shop, { spec }: Operation, name: string): Promise<Response> =>
  other.fetch(
    new Request(`http://localhost/v1${spec.path}`, {
      method: spec.method,
      headers: { authorization: `Bearer ${shop.key}`, ...buildHeaders(name) },
      body: JSON.stringify({ name }),
    }),
    { ip: '127.0.0.1' },
  )
const findTags = (name: string) =>
  app.database
    .query<{ name: string }>('select name from inbox_tags where name like $1', [`${name} %`])
    .then((rows) => rows.map((row) => row.name))
const expireLease = (name: string) =>
  app.database.query('update idempotency_keys set claimed_at = $1 where key = $2', [
    expiredAt(),
    `key-of-${name}`,
  ])
/** A claim from then has expired. */
const expiredAt = () => new Date(Date.now() - 61_000)
/** As if this process had been suspended. */
const suspendProcess = (milliseconds: number) => {
  const running = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => running() + milliseconds)
}

// The first one to close also closes the database.
afterAll(() => Promise.all([app.gateway.keys.flushUses(), other.gateway.keys.flushUses()]))

afterEach(() => {
  vi.restoreAllMocks()
})

const replaceOwner = (ctx: Context, name: string) =>
  ctx.db
    .updateTable('idempotency_keys')
    .set({ owner: ctx.newId() })
    .where('key', '=', `key-of-${name}`)
    .execute()

describe('an answer is stored by the owner of the claim', () => {
  test.each([
    ['whole', whole],
    ['statement', statement],
  ] as const)('%s: what another took over is undone', async (_kind, op) => {
    const shop = await store(app)
    const name = newName()
    beforeEnd.set(name, (tx) => replaceOwner(tx, name).then(() => {}))
    const answer = await call(shop, op, name)
    expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict'])
    expect(await findTags(name)).toEqual([])
  })

  test('own: a transaction of a suspended request fails after a takeover', async () => {
    const shop = await store(app)
    const name = newName()
    let second: Response | null = null
    beforeEnd.set(name, async () => {
      await expireLease(name)
      second = await callOther(shop, own, name)
      suspendProcess(50_000)
    })
    const first = await call(shop, own, name)
    expect([second!.status, await second!.json()]).toEqual([201, { run: 2 }])
    expect([first.status, first.body.error.code]).toEqual([409, 'conflict'])
    expect(await findTags(name)).toEqual([`${name} 2`])
    const again = await call(shop, own, name)
    expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([
      201,
      { run: 2 },
      'true',
    ])
  })

  test('own: a suspended request without a takeover continues, and cannot be taken over then', async () => {
    const shop = await store(app)
    const name = newName()
    beforeEnd.set(name, async () => {
      await expireLease(name)
      suspendProcess(50_000)
    })
    expect((await call(shop, own, name)).status).toBe(201)
    expect((await callOther(shop, own, name)).headers.get('idempotency-replayed')).toBe('true')
    expect(await findTags(name)).toEqual([`${name} 1`])
  })

  // One session cannot run two transactions at once.
  test.runIf(inject('postgresUrl'))('whole: two concurrent runs leave one row', async () => {
    const shop = await store(app)
    const name = newName()
    const inside = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    beforeEnd.set(name, async () => {
      inside.resolve()
      await gate.promise
    })
    const first = call(shop, whole, name)
    await inside.promise
    expect((await callOther(shop, whole, name)).status).toBe(409)
    await expireLease(name)
    expect((await callOther(shop, whole, name)).status).toBe(201)
    gate.resolve()
    expect((await first).status).toBe(409)
    expect(await findTags(name)).toEqual([`${name} 2`])
  })

  const forgotten = (ctx: Context, name: string) =>
    ctx.db.deleteFrom('idempotency_keys').where('key', '=', `key-of-${name}`).execute()

  test('own: a commit fails if a crash of the database lost the claim', async () => {
    const shop = await store(app)
    const name = newName()
    beforeEnd.set(name, (ctx) => forgotten(ctx, name).then(() => {}))
    expect((await call(shop, own, name)).status).toBe(409)
    expect(await findTags(name)).toEqual([])
    expect((await call(shop, own, name)).status).toBe(201)
    expect(await findTags(name)).toEqual([`${name} 2`])
  })

  test.each([
    ['fails', () => Promise.reject(new Error('broken'))],
    [
      'cannot keep its answer',
      async () => {
        vi.spyOn(Claim.prototype, 'storeAnswer').mockRejectedValueOnce(new Error('The connection was lost'))
      },
    ],
  ])('own: what %s after a commit is not run again', async (_how, act) => {
    const shop = await store(app)
    const name = newName()
    afterCommits.set(name, act)
    expect((await call(shop, own, name)).status).toBe(503)
    for (const _ of [1, 2]) {
      const again = await call(shop, own, name)
      expect([again.status, again.body.error.message]).toEqual([
        409,
        expect.stringMatching(/was carried out/),
      ])
      expect(again.headers.get('idempotency-replayed')).toBe('true')
    }
    expect(await findTags(name)).toEqual([`${name} 1`])
  })

  test('own: a request is not run again if its process died after a commit', async () => {
    const shop = await store(app)
    const name = newName()
    const answered = Promise.withResolvers<void>()
    afterCommits.set(name, () => answered.promise)
    const first = call(shop, own, name)
    await expect.poll(() => findTags(name)).toEqual([`${name} 1`])
    expect((await callOther(shop, own, name)).status).toBe(409)
    await expireLease(name)
    const second = await callOther(shop, own, name)
    expect([second.status, await second.text()]).toEqual([409, expect.stringMatching(/was carried out/)])
    answered.resolve()
    expect((await first).status).toBe(201)
    expect((await call(shop, own, name)).body).toEqual({ run: 1 })
  })

  test.each([
    ['refuses', () => refuse('unavailable', 'The platform does not answer')],
    ['was told by a provider', () => new Unavailable('no')],
  ])('own: what its handler %s for now may be sent again, whatever it has committed', async (_how, said) => {
    const shop = await store(app)
    const name = newName()
    afterCommits.set(name, () => Promise.reject(said()))
    expect((await call(shop, own, name)).status).toBe(503)
    expect((await call(shop, own, name)).status).toBe(201)
  })

  test('own: an observing transaction does not mark the key', async () => {
    const shop = await store(app)
    const name = newName()
    beforeEnd.set(name, async (ctx) => {
      await ctx.detached().transaction((tx) => tx.lockStore())
      throw new Error('broken')
    })
    expect((await call(shop, own, name)).status).toBe(503)
    expect((await call(shop, own, name)).body).toEqual({ run: 2 })
    expect(await findTags(name)).toEqual([`${name} 2`])
  })

  test.each([
    ['whole', whole],
    ['own', own],
  ] as const)('%s: a temporary refusal is not stored, any other one is', async (_kind, { spec }) => {
    const shop = await store(app)
    const [passing, lasting] = [newName(), newName()]
    beforeEnd.set(passing, async () => {
      throw refuseTemporarily('conflict', 'Something else is under way: try again in a minute')
    })
    beforeEnd.set(lasting, async () => {
      throw refuse('conflict', 'It is there already')
    })
    const send = (name: string) =>
      shop.request('POST', spec.path, { body: { name }, headers: buildHeaders(name) })
    expect([(await send(passing)).status, (await send(passing)).status]).toEqual([409, 201])
    expect([(await send(lasting)).status, (await send(lasting)).status]).toEqual([409, 409])
    expect(runs.get(lasting)).toBe(1)
  })

  test('the result of a key is recorded again after a lost connection', async () => {
    const shop = await store(app)
    const name = newName()
    beforeEnd.set(name, async () => {
      vi.spyOn(Claim.prototype, 'release').mockImplementationOnce(async () => {
        throw new Error('The connection was lost')
      })
      throw new Unavailable('no')
    })
    expect((await call(shop, whole, name)).status).toBe(503)
    expect((await call(shop, whole, name)).status).toBe(201)
  })

  test('a claim with a lost reply is released', async () => {
    const shop = await store(app)
    const name = newName()
    vi.spyOn(Claim.prototype, 'take').mockImplementationOnce(async function (this: Claim, ctx) {
      await originalTake.call(this, ctx)
      throw new Error('The connection was lost')
    })
    expect((await call(shop, whole, name)).status).toBe(503)
    expect((await call(shop, whole, name)).status).toBe(201)
  })

  test('a refusal or a failure after losing the claim neither answers for the key nor frees it', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const [lost, holds] = [new Claim('k', hash), new Claim('k', hash)]
    expect(await lost.take(ctx)).toBeNull()
    await app.database.query('update idempotency_keys set claimed_at = $1', [expiredAt()])
    expect(await holds.take(ctx)).toBeNull()
    await lost.release(ctx)
    expect(await lost.storeAnswer(ctx, { status: 409, body: 'lost', headers: {} })).toBe(false)
    expect(await new Claim('k', hash).take(ctx)).toBe('running')
    expect(await holds.storeAnswer(ctx, { status: 201, body: 'kept', headers: {} })).toBe(true)
    expect(await new Claim('k', hash).take(ctx)).toMatchObject({ body: 'kept' })
    for (const each of [lost, holds]) each.stopRenewal()
  })
})

/** Timers of this length wait for `pass`, which returns their number; those of the connections continue. */
function holdTimers(held: number) {
  const waiting = new Map<unknown, () => void>()
  const { setTimeout: begin, clearTimeout: end } = globalThis
  const hold = (run: () => void, ...more: [ms?: number]): NodeJS.Timeout => {
    if (more[0] !== held) return begin(run, ...more)
    const timer = begin(() => {}, held)
    waiting.set(timer, run)
    return timer
  }
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(hold as typeof setTimeout)
  vi.spyOn(globalThis, 'clearTimeout').mockImplementation((timer) => {
    waiting.delete(timer)
    end(timer)
  })
  return {
    pass(): number {
      const due = [...waiting.values()]
      waiting.clear()
      for (const run of due) run()
      return due.length
    },
  }
}

describe('a claim lives as long as its request', () => {
  test('moving the clock does not end it', async () => {
    const shop = await store(app)
    const name = newName()
    let second: Response | null = null
    beforeEnd.set(name, async () => {
      await app.advance(3_600_000)
      second = await callOther(shop, own, name)
    })
    expect((await call(shop, own, name)).status).toBe(201)
    expect(second!.status).toBe(409)
    expect(await findTags(name)).toEqual([`${name} 1`])
  })

  test('it is renewed until it ends', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const at = () =>
      app.database
        .query<{ at: string }>(`select claimed_at::text as at from idempotency_keys where key = 'long'`, [])
        .then(([row]) => row!.at)
    const renewals = holdTimers(3_000)
    const claim = new Claim('long', hash)
    await claim.take(ctx)
    const first = await at()
    expect(renewals.pass()).toBe(1)
    await vi.waitFor(async () => expect((await at()) > first).toBe(true))
    const second = await at()
    claim.stopRenewal()
    expect(renewals.pass()).toBe(0)
    expect(await at()).toBe(second)
  })

  /** A claim of a process that renews nothing more. */
  async function abandonClaim(ctx: Context, key: string): Promise<Claim> {
    const claim = new Claim(key, hash)
    expect(await claim.take(ctx)).toBeNull()
    claim.stopRenewal()
    // A cluster takes no expression of a column here.
    const [row] = await app.database.query<{ at: string }>(
      `select (claimed_at - interval '5 seconds')::text as at from idempotency_keys where key = $1`,
      [key],
    )
    await change(key, `claimed_at = '${row!.at}'`)
    return claim
  }
  const change = (key: string, set: string) =>
    app.database.query(`update idempotency_keys set ${set} where key = $1`, [key])
  /** Each look at the stopwatch adds to it, so that watching takes fewer looks at the database. */
  const hastenWatch = () => {
    const running = performance.now.bind(performance)
    let added = 0
    vi.spyOn(performance, 'now').mockImplementation(() => {
      added += 150
      return running() + added
    })
  }

  test('a claim that nobody renews while it is watched is taken over', async () => {
    const ctx = await (await store(app)).context()
    const gone = await abandonClaim(ctx, 'gone')
    hastenWatch()
    const holds = new Claim('gone', hash)
    expect(await holds.take(ctx)).toBeNull()
    holds.stopRenewal()
    expect(await gone.storeAnswer(ctx, { status: 201, body: 'late', headers: {} })).toBe(false)
    await expect(
      ctx.transaction((tx) => gone.storeAnswerLast(tx, { status: 201, body: '', headers: {} })),
    ).rejects.toThrow(/took over/)
  })

  test.each([
    ['is renewed while it is watched', 'claimed_at = now()', 'running'],
    ['is of an earlier release', `owner = '${randomUUID()}'`, 'running'],
    ['is answered meanwhile', `status = 201, body = 'first', headers = '{}'`, { body: 'first' }],
    ['has written', 'has_written = true', { body: expect.stringMatching(/was carried out/) }],
  ])('a claim that %s is not taken over', async (how, set, expected) => {
    const ctx = await (await store(app)).context()
    await abandonClaim(ctx, how)
    const isBefore = !how.includes('while')
    if (isBefore) await change(how, set)
    hastenWatch()
    const taking = new Claim(how, hash).take(ctx)
    if (!isBefore) await change(how, set)
    let found = await taking
    // On a busy machine a look may take so long that it counts as an outage: then the request is repeated.
    for (let n = 0; n < 10 && found === 'running' && typeof expected !== 'string'; n += 1)
      found = await new Claim(how, hash).take(ctx)
    if (typeof expected === 'string') expect(found).toBe(expected)
    else expect(found).toMatchObject(expected)
  })
})
