/** The content of `DATA_DIR` when its embedded database is opened: nothing that somebody put there is deleted. */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { hasDatabase } from '#db/embedded/create-database'
import { acquireFolderLock } from '#db/embedded/lock'
import { type OpenedDatabase, openEmbedded } from '#db/embedded/open'
import { SettingsError } from '#db/settings-error'
import { whenFileEnds } from '#test/support/closing'
import { shortLived } from '#test/support/processes'

const root = mkdtempSync(join(tmpdir(), 'merchant-folder-'))
chmodSync(root, 0o755)
whenFileEnds(() => rmSync(root, { recursive: true, force: true }))
const createFolder = (): string => mkdtempSync(join(root, 'data-'))

async function withOpened<T>(dataDir: string, work: (opened: OpenedDatabase) => Promise<T>): Promise<T> {
  const opened = await openEmbedded({ dataDir })
  try {
    return await work(opened)
  } finally {
    await opened.close()
  }
}
const query = (dataDir: string, text: string) =>
  withOpened(dataDir, ({ database }) => database.query(text, []))

async function readRefusal(dataDir: string): Promise<string> {
  const error: unknown = await withOpened(dataDir, async () => null).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(SettingsError)
  return (error as Error).message
}

describe('a folder', () => {
  let whole: string
  beforeAll(async () => {
    const dataDir = createFolder()
    await withOpened(dataDir, ({ database }) => database.script('create table notes as select 1 as id'))
    whole = join(dataDir, 'db')
  })

  test('keeps a complete database that was put in place of a partial one', async () => {
    const dataDir = createFolder()
    writeFileSync(join(dataDir, 'db.unfinished'), '')
    cpSync(whole, join(dataDir, 'db'), { recursive: true })
    expect(await query(dataDir, 'select id from notes')).toEqual([{ id: 1 }])
    expect(existsSync(join(dataDir, 'db.unfinished'))).toBe(false)
  })

  test('moves aside a partial database of an earlier version, and creates a private one under another name', async () => {
    const dataDir = createFolder()
    for (const name of ['db', '.db.making', 'db.unfinished.1']) {
      mkdirSync(join(dataDir, name))
      writeFileSync(join(dataDir, name, 'PG_VERSION'), '18\n')
    }
    writeFileSync(join(dataDir, 'db.unfinished'), '')
    expect(await query(dataDir, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(readdirSync(dataDir).filter((name) => !name.startsWith('db.lock'))).toEqual([
      'db',
      'db.unfinished.1',
      'db.unfinished.2',
    ])
    expect(readdirSync(join(dataDir, 'db.unfinished.2'))).toEqual(['PG_VERSION'])
    expect(statSync(join(dataDir, 'db')).mode & 0o077).toBe(0)
  })

  test("a mounted volume gets a database next to the system's own entries", async () => {
    const dataDir = createFolder()
    mkdirSync(join(dataDir, 'db/lost+found'), { recursive: true })
    expect(await query(dataDir, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(existsSync(join(dataDir, 'db/lost+found'))).toBe(true)
    expect(existsSync(join(dataDir, '.db.making'))).toBe(false)
  })

  test('files without a database are left unchanged', async () => {
    const dataDir = createFolder()
    mkdirSync(join(dataDir, 'db/base'), { recursive: true })
    expect(await readRefusal(dataDir)).toMatch(/^DATA_DIR: .*PG_VERSION is missing.*move it away/)
    expect(readdirSync(join(dataDir, 'db'))).toEqual(['base'])
  })

  test('a link, broken or not, and a file are refused', async () => {
    for (const to of [join(root, 'nowhere'), whole]) {
      const dataDir = createFolder()
      symlinkSync(to, join(dataDir, 'db'))
      expect(await readRefusal(dataDir)).toMatch(/^DATA_DIR: .* is a link, .*: put the folder itself there/)
      expect(readdirSync(dataDir)).toEqual(['db'])
    }
    const dataDir = createFolder()
    writeFileSync(join(dataDir, 'db'), '')
    expect(await readRefusal(dataDir)).toMatch(/^DATA_DIR: .* is no folder: remove it/)
  })
})

/** Users that nobody has. */
const owner = 12_345
const another = 12_346

describe.skipIf(process.getuid?.() !== 0)('several users', () => {
  async function as<T>(uid: number, work: () => Promise<T>): Promise<T> {
    process.seteuid!(uid)
    try {
      return await work()
    } finally {
      process.seteuid!(0)
    }
  }
  function foldersOf(uid: number, mode: number): string {
    const dataDir = createFolder()
    mkdirSync(join(dataDir, 'db/global'), { recursive: true })
    for (const name of ['PG_VERSION', 'global/pg_control']) {
      writeFileSync(join(dataDir, 'db', name), '18\n')
      chownSync(join(dataDir, 'db', name), uid, uid)
      chmodSync(join(dataDir, 'db', name), 0o666)
    }
    for (const [name, its] of [
      ['', 0o777],
      ['db', mode],
      ['db/global', 0o777],
    ] as const) {
      chownSync(join(dataDir, name), uid, uid)
      chmodSync(join(dataDir, name), its)
    }
    return dataDir
  }

  test("root does not open another user's folder, and leaves nothing in it", async () => {
    const dataDir = foldersOf(owner, 0o700)
    expect(await readRefusal(dataDir)).toMatch(/^DATA_DIR: .*\(uid 12345\).*sudo -u '#12345'/)
    rmSync(join(dataDir, 'db'), { recursive: true })
    expect(await readRefusal(dataDir)).toMatch(/^DATA_DIR: .*\(uid 12345\)/)
    expect(readdirSync(dataDir)).toEqual([])
  })

  test('root opens its own database anywhere, as containers do', async () => {
    const dataDir = createFolder()
    await query(dataDir, 'select 1 as one')
    chownSync(dataDir, owner, owner)
    expect(await query(dataDir, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test("another user's database is refused, and never replaced", async () => {
    const dataDir = foldersOf(owner, 0o700)
    await as(another, async () => {
      expect(await readRefusal(dataDir)).toMatch(
        /^DATA_DIR: .*\(uid 12345\): run this as that user, or .*chown -R 12346/,
      )
      expect(() => hasDatabase(join(dataDir, 'db'))).toThrow(/EACCES/)
    })
    // Its group may enter, but not read all of it.
    const shared = foldersOf(owner, 0o777)
    chmodSync(join(shared, 'db/global/pg_control'), 0o600)
    // A separate process: file permissions are checked for the real user.
    const program = `
      import { openEmbedded } from '#db/embedded/open'
      await openEmbedded({ dataDir: ${JSON.stringify(shared)} }).catch((error) => console.log(error.message))`
    const { stdout } = spawnSync(
      process.execPath,
      [...shortLived, '--input-type=module-typescript', '-e', program],
      { cwd: join(import.meta.dirname, '../..'), uid: another, gid: another, encoding: 'utf8' },
    )
    expect(stdout).toMatch(/^DATA_DIR: .*\(uid 12345\)/)
    for (const each of [dataDir, shared]) expect(readdirSync(each)).toEqual(['db'])
  })

  test('others may read a lock; an unreadable one is reported in one sentence', async () => {
    const dataDir = foldersOf(owner, 0o700)
    const taken = await acquireFolderLock(dataDir, 'command', null)
    const lock = join(dataDir, 'db.lock.1')
    expect(statSync(lock).mode & 0o777 & ~process.umask()).toBe(0o644 & ~process.umask())
    if ('lock' in taken) taken.lock.release()
    chmodSync(lock, 0o600)
    await as(owner, async () => {
      expect(await readRefusal(dataDir)).toMatch(
        /^DATA_DIR: .*db\.lock\.1, which this one may not read: .*remove it/,
      )
    })
    chmodSync(lock, 0o644)
    // In a folder where users may delete only their own files.
    chmodSync(dataDir, 0o1777)
    chownSync(dataDir, another, another)
    await as(owner, async () => {
      const next = await acquireFolderLock(dataDir, 'command', null)
      expect(next).toHaveProperty('lock')
      if ('lock' in next) next.lock.release()
    })
    expect(JSON.parse(readFileSync(join(dataDir, 'db.lock.2'), 'utf8'))).toMatchObject({ pid: 0 })
  })
})
