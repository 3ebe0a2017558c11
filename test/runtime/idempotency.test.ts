// biome-ignore-all lint/nursery/noJsRestrictedProperties: it moves the stopwatch of a process that stood still, and claims are dated by the database
/** What one request holds of its Idempotency-Key: nothing holds of who lost it, over two instances too. */
import { performance } from 'node:perf_hooks'
import { afterAll, afterEach, describe, expect, inject, test, vi } from 'vitest'
import type { Context } from '#runtime/context'
import { refuse, refuseForNow } from '#runtime/errors'
import { Claim } from '#runtime/gateway/idempotency'
import { type Operation, operation } from '#runtime/operation'
import { Unavailable } from '#runtime/ports/errors'
import { loadedOperation } from '#runtime/registry/registry'
import { object, z } from '#runtime/schema'
import { type Section, section } from '#runtime/section'
import { freshDatabase, testApp, wholeRegistry } from '#test/support/app'
import { type Shop, store } from '#test/support/store'

/** What a handler does between its write and its end; by the header-like `name` of the body. */
const meanwhile = new Map<string, (ctx: Context) => Promise<void>>()
/** The same, of what comes after its commit. */
const afterwards = new Map<string, (ctx: Context) => Promise<unknown>>()
const runs = new Map<string, number>()

const made = (path: string, transaction: 'whole' | 'statement' | 'own'): Operation =>
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
      const act = run === 1 ? meanwhile.get(body.name) : undefined
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
      if (run === 1) await afterwards.get(body.name)?.(ctx)
      return { run }
    },
  })

const whole = made('/made-up/whole', 'whole')
const statement = made('/made-up/statement', 'statement')
const own = made('/made-up/own', 'own')
const made_: Section = section({ title: 'Made up', description: 'Not there.', position: 99, order: [] })

const takes = Claim.prototype.take
const registry = await wholeRegistry()
const options = {
  registry: {
    ...registry,
    operations: [
      ...registry.operations,
      ...[whole, statement, own].map((each, at) => loadedOperation(`made-up-${at}.ts`, made_, each)),
    ],
    sections: [...registry.sections, made_],
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
const headersOf = (name: string) => ({ 'idempotency-key': `key-of-${name}` })
const call = (shop: Shop, { spec }: Operation, name: string) =>
  shop.request(spec.method, spec.path, { body: { name }, headers: headersOf(name) })
const elsewhere = async (shop: Shop, { spec }: Operation, name: string): Promise<Response> =>
  other.fetch(
    new Request(`http://localhost/v1${spec.path}`, {
      method: spec.method,
      headers: { authorization: `Bearer ${shop.key}`, ...headersOf(name) },
      body: JSON.stringify({ name }),
    }),
    { ip: '127.0.0.1' },
  )
const tagsOf = (name: string) =>
  app.database
    .query<{ name: string }>('select name from inbox_tags where name like $1', [`${name} %`])
    .then((rows) => rows.map((row) => row.name))
const leaseRunsOut = (name: string) =>
  app.database.query('update idempotency_keys set claimed_at = $1 where key = $2', [
    overSince(),
    `key-of-${name}`,
  ])
/** A claim of then is nobody's any more. */
const overSince = () => new Date(Date.now() - 61_000)
/** As if this process had stood still. */
const standStill = (milliseconds: number) => {
  const running = performance.now.bind(performance)
  vi.spyOn(performance, 'now').mockImplementation(() => running() + milliseconds)
}

// Whichever closes first takes the database with it.
afterAll(() => Promise.all([app.gateway.keys.writeUses(), other.gateway.keys.writeUses()]))

afterEach(() => {
  vi.restoreAllMocks()
})

const replacedOwner = (ctx: Context, name: string) =>
  ctx.db
    .updateTable('idempotency_keys')
    .set({ owner: ctx.newId() })
    .where('key', '=', `key-of-${name}`)
    .execute()

describe('an answer is kept by who holds the key', () => {
  test.each([
    ['whole', whole],
    ['statement', statement],
  ] as const)('%s: what another took over is undone', async (_kind, op) => {
    const shop = await store(app)
    const name = newName()
    meanwhile.set(name, (tx) => replacedOwner(tx, name).then(() => {}))
    const answer = await call(shop, op, name)
    expect([answer.status, answer.body.error.code]).toEqual([409, 'conflict'])
    expect(await tagsOf(name)).toEqual([])
  })

  test('own: a transaction of who stood still and was taken over does not hold', async () => {
    const shop = await store(app)
    const name = newName()
    let second: Response | null = null
    meanwhile.set(name, async () => {
      await leaseRunsOut(name)
      second = await elsewhere(shop, own, name)
      standStill(50_000)
    })
    const first = await call(shop, own, name)
    expect([second!.status, await second!.json()]).toEqual([201, { run: 2 }])
    expect([first.status, first.body.error.code]).toEqual([409, 'conflict'])
    expect(await tagsOf(name)).toEqual([`${name} 2`])
    const again = await call(shop, own, name)
    expect([again.status, again.body, again.headers.get('idempotency-replayed')]).toEqual([
      201,
      { run: 2 },
      'true',
    ])
  })

  test('own: who stood still without being taken over goes on, and is not taken over then', async () => {
    const shop = await store(app)
    const name = newName()
    meanwhile.set(name, async () => {
      await leaseRunsOut(name)
      standStill(50_000)
    })
    expect((await call(shop, own, name)).status).toBe(201)
    expect((await elsewhere(shop, own, name)).headers.get('idempotency-replayed')).toBe('true')
    expect(await tagsOf(name)).toEqual([`${name} 1`])
  })

  // One session cannot run two transactions at once.
  test.runIf(inject('postgresUrl'))('whole: two that run at once leave one row', async () => {
    const shop = await store(app)
    const name = newName()
    const inside = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    meanwhile.set(name, async () => {
      inside.resolve()
      await gate.promise
    })
    const first = call(shop, whole, name)
    await inside.promise
    expect((await elsewhere(shop, whole, name)).status).toBe(409)
    await leaseRunsOut(name)
    expect((await elsewhere(shop, whole, name)).status).toBe(201)
    gate.resolve()
    expect((await first).status).toBe(409)
    expect(await tagsOf(name)).toEqual([`${name} 2`])
  })

  const forgotten = (ctx: Context, name: string) =>
    ctx.db.deleteFrom('idempotency_keys').where('key', '=', `key-of-${name}`).execute()

  test('own: a claim that a crash of the database forgot: what was to be committed does not hold', async () => {
    const shop = await store(app)
    const name = newName()
    meanwhile.set(name, (ctx) => forgotten(ctx, name).then(() => {}))
    expect((await call(shop, own, name)).status).toBe(409)
    expect(await tagsOf(name)).toEqual([])
    expect((await call(shop, own, name)).status).toBe(201)
    expect(await tagsOf(name)).toEqual([`${name} 2`])
  })

  test.each([
    ['fails', () => Promise.reject(new Error('broken'))],
    [
      'cannot keep its answer',
      async () => {
        vi.spyOn(Claim.prototype, 'keep').mockRejectedValueOnce(new Error('The connection was lost'))
      },
    ],
  ])('own: what %s after a commit is not run again', async (_how, act) => {
    const shop = await store(app)
    const name = newName()
    afterwards.set(name, act)
    expect((await call(shop, own, name)).status).toBe(503)
    for (const _ of [1, 2]) {
      const again = await call(shop, own, name)
      expect([again.status, again.body.error.message]).toEqual([
        409,
        expect.stringMatching(/was carried out/),
      ])
      expect(again.headers.get('idempotency-replayed')).toBe('true')
    }
    expect(await tagsOf(name)).toEqual([`${name} 1`])
  })

  test('own: nor where its process died after a commit', async () => {
    const shop = await store(app)
    const name = newName()
    const answered = Promise.withResolvers<void>()
    afterwards.set(name, () => answered.promise)
    const first = call(shop, own, name)
    await expect.poll(() => tagsOf(name)).toEqual([`${name} 1`])
    expect((await elsewhere(shop, own, name)).status).toBe(409)
    await leaseRunsOut(name)
    const second = await elsewhere(shop, own, name)
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
    afterwards.set(name, () => Promise.reject(said()))
    expect((await call(shop, own, name)).status).toBe(503)
    expect((await call(shop, own, name)).status).toBe(201)
  })

  test('own: what was only observed says nothing of the key', async () => {
    const shop = await store(app)
    const name = newName()
    meanwhile.set(name, async (ctx) => {
      await ctx.observing().transaction((tx) => tx.lockStore())
      throw new Error('broken')
    })
    expect((await call(shop, own, name)).status).toBe(503)
    expect((await call(shop, own, name)).body).toEqual({ run: 2 })
    expect(await tagsOf(name)).toEqual([`${name} 2`])
  })

  test.each([
    ['whole', whole],
    ['own', own],
  ] as const)(
    '%s: what is refused for now answers for no key, any other refusal does',
    async (_kind, { spec }) => {
      const shop = await store(app)
      const [passing, lasting] = [newName(), newName()]
      meanwhile.set(passing, async () => {
        throw refuseForNow('conflict', 'Something else is under way: try again in a minute')
      })
      meanwhile.set(lasting, async () => {
        throw refuse('conflict', 'It is there already')
      })
      const send = (name: string) =>
        shop.request('POST', spec.path, { body: { name }, headers: headersOf(name) })
      expect([(await send(passing)).status, (await send(passing)).status]).toEqual([409, 201])
      expect([(await send(lasting)).status, (await send(lasting)).status]).toEqual([409, 409])
      expect(runs.get(lasting)).toBe(1)
    },
  )

  test('what became of a key is said once more where the connection was lost as it was', async () => {
    const shop = await store(app)
    const name = newName()
    meanwhile.set(name, async () => {
      vi.spyOn(Claim.prototype, 'giveBack').mockImplementationOnce(async () => {
        throw new Error('The connection was lost')
      })
      throw new Unavailable('no')
    })
    expect((await call(shop, whole, name)).status).toBe(503)
    expect((await call(shop, whole, name)).status).toBe(201)
  })

  test('a claim of which nobody heard is given back', async () => {
    const shop = await store(app)
    const name = newName()
    vi.spyOn(Claim.prototype, 'take').mockImplementationOnce(async function (this: Claim, ctx) {
      await takes.call(this, ctx)
      throw new Error('The connection was lost')
    })
    expect((await call(shop, whole, name)).status).toBe(503)
    expect((await call(shop, whole, name)).status).toBe(201)
  })

  test('a refusal or a failure of who lost the key neither answers for nor frees it', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const [lost, holds] = [new Claim('k', 'h'), new Claim('k', 'h')]
    expect(await lost.take(ctx)).toBeNull()
    await app.database.query('update idempotency_keys set claimed_at = $1', [overSince()])
    expect(await holds.take(ctx)).toBeNull()
    await lost.giveBack(ctx)
    expect(await lost.keep(ctx, { status: 409, body: 'lost', headers: {} })).toBe(false)
    expect(await new Claim('k', 'h').take(ctx)).toBe('running')
    expect(await holds.keep(ctx, { status: 201, body: 'kept', headers: {} })).toBe(true)
    expect(await new Claim('k', 'h').take(ctx)).toMatchObject({ body: 'kept' })
    for (const each of [lost, holds]) each.end()
  })
})

/** Timers of this length wait for `pass`, which answers how many there were; those of the connections go on. */
function heldTimers(held: number) {
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
  test('a clock that is moved does not end it', async () => {
    const shop = await store(app)
    const name = newName()
    let second: Response | null = null
    meanwhile.set(name, async () => {
      await app.advance(3_600_000)
      second = await elsewhere(shop, own, name)
    })
    expect((await call(shop, own, name)).status).toBe(201)
    expect(second!.status).toBe(409)
    expect(await tagsOf(name)).toEqual([`${name} 1`])
  })

  test('it is renewed until it ends', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const at = () =>
      app.database
        .query<{ at: string }>(`select claimed_at::text as at from idempotency_keys where key = 'long'`, [])
        .then(([row]) => row!.at)
    const renewals = heldTimers(20_000)
    const claim = new Claim('long', 'h')
    await claim.take(ctx)
    const first = await at()
    expect(renewals.pass()).toBe(1)
    await vi.waitFor(async () => expect((await at()) > first).toBe(true))
    const second = await at()
    claim.end()
    expect(renewals.pass()).toBe(0)
    expect(await at()).toBe(second)
  })
})
