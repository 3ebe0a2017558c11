/** The embedded database with several processes: one has it open and serves it, the others connect. */
import { type ChildProcess, spawn } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectMs } from '#db/deadlines'

import { acquireFolderLock } from '#db/embedded/lock'
import { type FolderRole, type OpenedDatabase, openEmbedded } from '#db/embedded/open'
import { socketPath } from '#db/embedded/socket'

import { shortLived } from '#test/support/processes'

const folders: string[] = []
const opened: OpenedDatabase[] = []
const children = new Set<ChildProcess>()
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL')
  for (const each of opened.reverse()) await each.close()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A new folder; all but the first get a copy of the empty database that was created there. */
function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'merchant-embedded-'))
  if (made) cpSync(made, join(path, 'db'), { recursive: true })
  folders.push(path)
  return path
}

let made: string | null = null
beforeAll(async () => {
  const dataDir = folder()
  await close(await open(dataDir))
  made = join(dataDir, 'db')
})

async function open(dataDir: string, role: FolderRole = 'command'): Promise<OpenedDatabase> {
  const each = await openEmbedded({ dataDir }, role)
  opened.push(each)
  return each
}
async function close(each: OpenedDatabase): Promise<void> {
  opened.splice(opened.indexOf(each), 1)
  await each.close()
}

/** A separate process that opens the folder and runs code with `database` and `sql` in scope. */
function startProcess(dataDir: string, role: FolderRole, code: string) {
  const program = `
    import { openEmbedded } from '#db/embedded/open'
    import { sql } from 'kysely'
    const opened = await openEmbedded({ dataDir: ${JSON.stringify(dataDir)} }, '${role}')
    const { database } = opened
    ${code}`
  const child = spawn(process.execPath, [...shortLived, '--input-type=module-typescript', '-e', program], {
    cwd: join(import.meta.dirname, '../..'),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
  const ended = new Promise<{ code: number | null; output: string }>((resolve) =>
    child.once('close', (exit) => {
      children.delete(child)
      resolve({ code: exit, output })
    }),
  )
  const said = async (text: string): Promise<void> => {
    while (!output.includes(text)) {
      if (child.exitCode !== null) throw new Error(`ended: ${output}`)
      await wait(20)
    }
  }
  return { child, ended, said }
}

describe('a second process', () => {
  test('connects to the first, sees its writes, and leaves nothing in its session', async () => {
    const dataDir = folder()
    const server = await open(dataDir, 'gateway')
    const command = await open(dataDir)
    expect([server.shared, command.shared, command.database.kind]).toEqual([false, true, 'pglite'])
    await server.database.script('create table notes (id int primary key, text text)')
    await command.database.query('insert into notes values ($1, $2)', [1, 'from outside'])
    expect(await server.database.query('select * from notes', [])).toEqual([{ id: 1, text: 'from outside' }])
    const values = `select 12::bigint as n, 1.50::numeric as m, date '2026-11-20' as d, '{"a":1}'::jsonb as j,
      timestamptz '2026-11-20T12:00:00Z' as t, array['x','y'] as l`
    expect([...(await command.database.query(values, []))]).toEqual(await server.database.query(values, []))
    await close(command)
    // Prepared at its second use.
    const statements = `select count(*)::int as n from pg_prepared_statements where name not like 'kept%'`
    await expect.poll(() => server.database.query(statements, [])).toEqual([{ n: 0 }])
  })

  test('has isolated transactions, and does not disturb those of the first', async () => {
    const dataDir = folder()
    const server = await open(dataDir, 'gateway')
    const command = await open(dataDir)
    await server.database.script('create table counts (who text primary key, n int not null)')
    await server.database.script(`insert into counts values ('server', 0), ('command', 0)`)
    const seen: number[] = []
    /** Increments in two steps and rolls back every third time. */
    const add = async ({ database }: OpenedDatabase, who: string, turn: number): Promise<void> => {
      const work = database.root.transaction().execute(async (tx) => {
        await sql`update counts set n = n + 1 where who = ${who}`.execute(tx)
        await wait(turn % 2)
        const { rows } = await sql<{ n: number }>`select sum(n)::int as n from counts`.execute(tx)
        seen.push(rows[0]!.n)
        if (turn % 3 === 0) throw new Error('taken back')
      })
      await work.catch((error: Error) => expect(error.message).toBe('taken back'))
    }
    const lone = async ({ database }: OpenedDatabase): Promise<void> => {
      await database.query('select pg_catalog.count(*) from counts', [])
      await database
        .query('select * from nothing_of_that_name', [])
        .catch((error: Error) => expect(error.message).toContain('does not exist'))
    }
    await Promise.all(
      Array.from({ length: 60 }, (_each, turn) => [
        add(server, 'server', turn),
        add(command, 'command', turn),
        lone(turn % 2 ? server : command),
      ]).flat(),
    )
    const rows = await server.database.query('select who, n from counts order by who', [])
    expect([...rows]).toEqual([
      { who: 'command', n: 40 },
      { who: 'server', n: 40 },
    ])
    expect(seen).toHaveLength(120)
  })

  test('a client that dies within a transaction, or while it waits for the session, blocks nobody', async () => {
    const dataDir = folder()
    const server = await open(dataDir, 'gateway')
    await server.database.script('create table rows (id int)')
    const inside = startProcess(
      dataDir,
      'command',
      `await database.root.transaction().execute(async (tx) => {
         await sql\`insert into rows values (1)\`.execute(tx)
         console.log('inside')
         await new Promise(() => setInterval(() => {}, 1000))
       })`,
    )
    await inside.said('inside')
    const waiting = startProcess(
      dataDir,
      'command',
      `console.log('waiting')
       await database.root.transaction().execute((tx) => sql\`insert into rows values (2)\`.execute(tx))`,
    )
    await waiting.said('waiting')
    await wait(200)
    waiting.child.kill('SIGKILL')
    await waiting.ended
    inside.child.kill('SIGKILL')
    await inside.ended
    expect(await server.database.query('select * from rows', [])).toEqual([])
  })

  test('a client whose server stops gets an error, and its uncommitted work is gone', async () => {
    const dataDir = folder()
    const server = await open(dataDir, 'gateway')
    await server.database.script('create table rows (id int)')
    const command = await open(dataDir)
    const work = command.database.root.transaction().execute(async (tx) => {
      await sql`insert into rows values (1)`.execute(tx)
      await close(server)
    })
    await expect(work).rejects.toThrow(/connection was lost/)
    const next = await open(dataDir)
    expect(next.shared).toBe(false)
    expect(await next.database.query('select * from rows', [])).toEqual([])
    await close(next)
  })
})

describe('while a transaction is open', () => {
  /** The transaction of a socket's client; `over` resolves when it ends or is cut off. */
  async function busy(dataDir: string): Promise<{ leave(): void; over: Promise<string> }> {
    const other = await open(dataDir)
    let leave = (): void => undefined
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    let begun = (): void => undefined
    const isIn = new Promise<void>((resolve) => {
      begun = resolve
    })
    const work = other.database.root.transaction().execute(async (tx) => {
      await sql`select 1`.execute(tx)
      begun()
      await left
      await sql`select 2`.execute(tx)
    })
    const over = work.then(
      () => 'done',
      () => 'cut off',
    )
    await isIn
    return { leave, over }
  }

  test('a new client waits for its end, longer than for a connection', async () => {
    const dataDir = folder()
    const server = await open(dataDir, 'gateway')
    const { leave, over } = await busy(dataDir)
    const late = await open(dataDir)
    const asked = late.database.query('select 3 as three', [])
    await wait(connectMs + 500)
    leave()
    expect(await over).toBe('done')
    expect([...(await asked)]).toEqual([{ three: 3 }])
    await close(late)
    await close(server)
  })

  test('the server disconnects its client in order to stop', async () => {
    const dataDir = folder()
    const server = await open(dataDir, 'gateway')
    const { leave, over } = await busy(dataDir)
    await server.disconnectClients!()
    expect(await server.database.query('select 1 as one', [])).toEqual([{ one: 1 }])
    leave()
    expect(await over).toBe('cut off')
    await close(server)
  })
})

describe('the folder', () => {
  test('allows one gateway: the second gets one line', async () => {
    const dataDir = folder()
    await open(dataDir, 'gateway')
    await expect(openEmbedded({ dataDir }, 'gateway')).rejects.toThrow(
      `DATA_DIR: ${dataDir} is in use by a gateway (process ${process.pid}): stop it first`,
    )
    const worker = await open(dataDir, 'worker')
    expect(worker.shared).toBe(true)
  })

  test('goes to one of many that start at once, the others wait', async () => {
    const dataDir = folder()
    const code = `
      await database.script('create table if not exists turns (id serial)')
      await database.query('insert into turns default values', [])
      await opened.close()
      console.log(opened.shared)`
    const runs = await Promise.all(
      Array.from({ length: 4 }, () => startProcess(dataDir, 'command', code).ended),
    )
    expect(runs.map((run) => [run.code, run.output.trim()])).toEqual(runs.map(() => [0, 'false']))
    const last = await open(dataDir)
    expect(await last.database.query('select count(*)::int as n from turns', [])).toEqual([{ n: 4 }])
    await close(last)
  })

  test('is free after its process was killed, with all commits', async () => {
    const dataDir = folder()
    const server = startProcess(
      dataDir,
      'gateway',
      `await database.script('create table rows (id int); insert into rows values (1)')
       console.log('committed')
       setInterval(() => {}, 1000)`,
    )
    await server.said('committed')
    server.child.kill('SIGKILL')
    await server.ended
    expect(existsSync(join(dataDir, 'db.sock'))).toBe(true)
    const next = await open(dataDir, 'gateway')
    expect(await next.database.query('select * from rows', [])).toEqual([{ id: 1 }])
    expect(readdirSync(dataDir).filter((name) => name.startsWith('db.lock.'))).toHaveLength(1)
  })

  test('ignores a lock of an earlier process with this pid, of a reused pid, or half written', async () => {
    const dataDir = folder()
    const lock = (generation: number, text: string) =>
      writeFileSync(join(dataDir, `db.lock.${generation}`), text)
    const holder = { pid: process.pid, born: 'before', token: 'x', role: 'gateway', socket: null }
    lock(3, JSON.stringify(holder))
    const mine = await acquireFolderLock(dataDir, 'command', null)
    expect('lock' in mine).toBe(true)
    lock(9, JSON.stringify({ ...holder, pid: 1 }))
    expect('lock' in (await acquireFolderLock(dataDir, 'command', null))).toBe(true)
    lock(20, '')
    expect(await acquireFolderLock(dataDir, 'command', null)).toEqual({ holder: null })
  })

  test('passes from a released lock to exactly one process, however often', async () => {
    const dataDir = folder()
    for (let round = 0; round < 30; round += 1) {
      const taken = await Promise.all(
        Array.from({ length: 5 }, () => acquireFolderLock(dataDir, 'command', null)),
      )
      const locks = taken.flatMap((each) => ('lock' in each ? [each.lock] : []))
      expect(locks).toHaveLength(1)
      locks[0]!.release()
    }
  })

  test('opens for a new process if its server stops at that moment', async () => {
    const dataDir = folder()
    const gone = createServer((socket) => {
      // The check that somebody listens, then the first query: its server stops in between.
      seen += 1
      if (seen === 2) gone.close()
      socket.destroy()
    })
    let seen = 0
    await new Promise<void>((resolve) => gone.listen(socketPath(dataDir), resolve))
    const taken = await acquireFolderLock(dataDir, 'gateway', socketPath(dataDir))
    gone.once('close', () => 'lock' in taken && taken.lock.release())
    const next = await open(dataDir)
    expect([seen, next.shared]).toEqual([2, false])
    await close(next)
  })

  test('may have a path too long for a socket; no other user may open the socket', async () => {
    const long = join(folder(), 'a'.repeat(60), 'b'.repeat(60))
    mkdirSync(long, { recursive: true })
    cpSync(made!, join(long, 'db'), { recursive: true })
    const path = socketPath(long)
    expect(Buffer.byteLength(path)).toBeLessThanOrEqual(100)
    folders.push(dirname(path))
    const server = await open(long, 'gateway')
    const command = await open(long)
    expect(command.shared).toBe(true)
    expect([...(await command.database.query('select 1 as one', []))]).toEqual([{ one: 1 }])
    expect(statSync(path).mode & 0o077).toBe(0)
    expect(statSync(dirname(path)).mode & 0o077).toBe(0)
    await close(command)
    await close(server)
  })
})
