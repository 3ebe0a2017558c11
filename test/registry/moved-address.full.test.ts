/** The server's address changes: no answer, export or page has the old one, and clients may send it back. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testApp, wholeRegistry } from '#test/support/app'
import { buildPath, openDemo } from './demo.ts'
import { ensureResource, holders } from './holders.ts'
import { type Body, sender, type World, world } from './world.ts'

const old = 'https://api.example.com'
const registry = await wholeRegistry()
const demo = await openDemo()
const before = demo.app

/** Addresses of this server that rows may have, with the reason. */
const exempt: readonly [column: RegExp, address: string, reason: string][] = [
  [/./, '/sandbox/pictures/', 'pictures of the sandbox’s shop, which is a foreign system'],
  [/^sandbox_objects\.data$/, '/hooks/', 'webhooks, as they are registered at the sandbox’s shop'],
  [/^sandbox_objects\.data$/, '/storefront/', 'the script, as it is installed at the sandbox’s shop'],
]

/** Columns with the old address, and an example of each. */
async function findOldAddresses(): Promise<string[]> {
  const { database } = before
  const tables = await database.query<{ name: string }>(
    `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and n.nspname in ('public', 'pgboss')
       and c.relname <> 'server_settings' and not c.relispartition and pg_table_is_visible(c.oid) order by 1`,
    [],
  )
  const found: string[] = []
  for (const { name } of tables) {
    const rows = await database.query<{ column: string; address: string }>(
      `select distinct e.key as column, 'at ' || substring(m[1] for 40) as address
       from ${name} t, jsonb_each_text(to_jsonb(t)) e, regexp_matches(e.value, 'api[.]example[.]com([^\\s"]*)', 'g') m`,
      [],
    )
    for (const { column, address } of rows) {
      const place = `${name}.${column}`
      if (!exempt.some(([columns, path]) => columns.test(place) && address.startsWith(`at ${path}`)))
        found.push(`${place} ${address}`)
    }
  }
  return found
}

const withoutExempt = (text: string): string => text.replaceAll(`${old}/sandbox/pictures/`, '')

interface Saved {
  at: World
  operation: string
  body: Body
  params: Record<string, string>
}

/** Saves every resource whose body may name a file, at the old address. */
async function fill(): Promise<Saved[]> {
  const saved: Saved[] = []
  for (const holder of holders) {
    const id = holder.update ?? holder.create!
    const at = await world(before, holder)
    const own: { body?: Body; params?: Record<string, string> } = {}
    if (id === holder.create) own.params = (await holder.params?.(at)) ?? {}
    else {
      const there = await ensureResource(registry, holder, at)
      if (there !== null) own[holder.id!.in] = { [holder.id!.as]: there }
    }
    await before.drainJobs({ allowFailures: true })
    for (const full of await holder.full(at)) {
      if (!JSON.stringify(full).includes(`${old}/files/`)) continue
      const each = { at, operation: id, body: { ...full, ...own.body }, params: own.params ?? {} }
      const { status, body } = await sender(at)(registry.byId(id)!, each.body, each.params)
      expect([holder.name, status < 300, body?.error?.message]).toEqual([holder.name, true, undefined])
      saved.push(each)
    }
  }
  return saved
}

test('rows name files by their keys, and all answers follow a change of PUBLIC_URL', async () => {
  const saved = await fill()
  expect(saved.length).toBeGreaterThan(20)
  expect(await findOldAddresses()).toEqual([])
  const uses = async () =>
    before.database.query<{ owner: string; files: number }>(
      'select owner, count(*) as files from file_uses group by owner order by owner',
      [],
    )
  const used = await uses()
  const now = await testApp(
    { publicUrl: 'https://new.example.org', dataDir: before.dataDir },
    { database: before.database, clock: before.clock },
  )
  async function send(key: string, method: string, path: string, body?: unknown) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const sent = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) }
    const answer = await now.fetch(new Request(`https://new.example.org/v1${path}`, sent), {
      ip: '127.0.0.1',
    })
    return { status: answer.status, text: await answer.text() }
  }
  const files = new Set<string>()
  function check(name: string, text: string): void {
    expect([name, withoutExempt(text).includes('api.example.com')]).toEqual([name, false])
    expect([name, text.includes('files://')]).toEqual([name, false])
    for (const [address] of text.matchAll(/https:\/\/new\.example\.org\/files\/[^"\\<)' ?]+/g))
      files.add(address)
  }

  const reads = registry.operations.filter(({ spec }) => spec.method === 'GET')
  let answered = 0
  for (const operation of reads) {
    const params = await demo.namesOf(operation)
    const { status, text } = await send(demo.key, 'GET', buildPath(operation.spec.path, params))
    if (status < 300) answered += 1
    check(`demo: ${operation.id}`, text)
  }
  expect(answered).toBeGreaterThan(reads.length * 0.7)
  for (const { at } of saved) {
    for (const { spec, parameters, id } of reads) {
      if (parameters.length === 0) check(id, (await send(at.shop.key, 'GET', spec.path)).text)
    }
  }
  expect(files.size).toBeGreaterThan(40)
  for (const address of files) {
    expect([address, (await now.fetch(new Request(address), { ip: '127.0.0.1' })).status]).toEqual([
      address,
      expect.toBeOneOf([200, 403]), // private files are read by signed links
    ])
  }

  // The clients send what they have, with the old addresses.
  let understood = 0
  for (const { at, operation, body, params } of saved) {
    const { spec } = registry.byId(operation)!
    const { status, text } = await send(at.shop.key, spec.method, buildPath(spec.path, params), body)
    // A second one of the same name is refused.
    expect([operation, status < 300 || status === 409, text.slice(0, 200)]).toEqual([
      operation,
      true,
      expect.any(String),
    ])
    if (status < 300) understood += 1
    check(operation, text)
  }
  expect(understood).toBeGreaterThan(15)
  await now.drainJobs({ allowFailures: true })
  const kept = new Map((await uses()).map(({ owner, files: count }) => [owner, count]))
  expect(used.filter(({ owner, files: count }) => (kept.get(owner) ?? 0) < count)).toEqual([])
  expect(await findOldAddresses()).toEqual([])
  const exported = readdirSync(join(before.dataDir, 'files'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.includes('.csv.'))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
  expect(exported.length).toBeGreaterThan(5)
  for (const csv of exported) check('an export', csv)
})
