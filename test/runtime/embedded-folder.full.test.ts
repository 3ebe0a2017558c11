/** What stands in `DATA_DIR` as its embedded database is opened: nothing that somebody put there is removed. */
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
import { takeFolder } from '#db/embedded/lock'
import { hasDatabase } from '#db/embedded/making'
import { type OpenedDatabase, openEmbedded } from '#db/embedded/open'
import { SettingsError } from '#db/settings-error'
import { whenFileEnds } from '#test/support/closing'
import { shortLived } from '#test/support/processes'

const root = mkdtempSync(join(tmpdir(), 'merchant-folder-'))
chmodSync(root, 0o755)
whenFileEnds(() => rmSync(root, { recursive: true, force: true }))
const newFolder = (): string => mkdtempSync(join(root, 'data-'))

async function using<T>(dataDir: string, work: (opened: OpenedDatabase) => Promise<T>): Promise<T> {
  const opened = await openEmbedded({ dataDir })
  try {
    return await work(opened)
  } finally {
    await opened.close()
  }
}
const query = (dataDir: string, text: string) => using(dataDir, ({ database }) => database.query(text, []))

async function refusalOf(dataDir: string): Promise<string> {
  const error: unknown = await using(dataDir, async () => null).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(SettingsError)
  return (error as Error).message
}

describe('a folder', () => {
  let whole: string
  beforeAll(async () => {
    const dataDir = newFolder()
    await using(dataDir, ({ database }) => database.script('create table notes as select 1 as id'))
    whole = join(dataDir, 'db')
  })

  test('keeps a whole database that was put where the making of another had failed', async () => {
    const dataDir = newFolder()
    writeFileSync(join(dataDir, 'db.unfinished'), '')
    cpSync(whole, join(dataDir, 'db'), { recursive: true })
    expect(await query(dataDir, 'select id from notes')).toEqual([{ id: 1 }])
    expect(existsSync(join(dataDir, 'db.unfinished'))).toBe(false)
  })

  test('puts aside what an earlier version left half made, and makes a private one under another name', async () => {
    const dataDir = newFolder()
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

  test('that is a volume gets a database beside what the system keeps in it', async () => {
    const dataDir = newFolder()
    mkdirSync(join(dataDir, 'db/lost+found'), { recursive: true })
    expect(await query(dataDir, 'select 1 as one')).toEqual([{ one: 1 }])
    expect(existsSync(join(dataDir, 'db/lost+found'))).toBe(true)
    expect(existsSync(join(dataDir, '.db.making'))).toBe(false)
  })

  test('with files and no database is left as it is', async () => {
    const dataDir = newFolder()
    mkdirSync(join(dataDir, 'db/base'), { recursive: true })
    expect(await refusalOf(dataDir)).toMatch(/^DATA_DIR: .*PG_VERSION is missing.*move it away/)
    expect(readdirSync(join(dataDir, 'db'))).toEqual(['base'])
  })

  test('is no link, whether it leads somewhere or not, and no file', async () => {
    for (const to of [join(root, 'nowhere'), whole]) {
      const dataDir = newFolder()
      symlinkSync(to, join(dataDir, 'db'))
      expect(await refusalOf(dataDir)).toMatch(/^DATA_DIR: .* is a link, .*: put the folder itself there/)
      expect(readdirSync(dataDir)).toEqual(['db'])
    }
    const dataDir = newFolder()
    writeFileSync(join(dataDir, 'db'), '')
    expect(await refusalOf(dataDir)).toMatch(/^DATA_DIR: .* is no folder: remove it/)
  })
})

/** Of nobody. */
const owner = 12_345
const another = 12_346

describe.skipIf(process.getuid?.() !== 0)('of several users', () => {
  async function as<T>(uid: number, work: () => Promise<T>): Promise<T> {
    process.seteuid!(uid)
    try {
      return await work()
    } finally {
      process.seteuid!(0)
    }
  }
  function foldersOf(uid: number, mode: number): string {
    const dataDir = newFolder()
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

  test('root does not open the folder of another, and leaves nothing in it', async () => {
    const dataDir = foldersOf(owner, 0o700)
    expect(await refusalOf(dataDir)).toMatch(/^DATA_DIR: .*\(uid 12345\).*sudo -u '#12345'/)
    rmSync(join(dataDir, 'db'), { recursive: true })
    expect(await refusalOf(dataDir)).toMatch(/^DATA_DIR: .*\(uid 12345\)/)
    expect(readdirSync(dataDir)).toEqual([])
  })

  test('root opens its own database wherever it lies, as containers do', async () => {
    const dataDir = newFolder()
    await query(dataDir, 'select 1 as one')
    chownSync(dataDir, owner, owner)
    expect(await query(dataDir, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  test("another user's database is refused, and taken for none by nobody", async () => {
    const dataDir = foldersOf(owner, 0o700)
    await as(another, async () => {
      expect(await refusalOf(dataDir)).toMatch(
        /^DATA_DIR: .*\(uid 12345\): run this as that user, or .*chown -R 12346/,
      )
      expect(() => hasDatabase(join(dataDir, 'db'))).toThrow(/EACCES/)
    })
    // Its group may enter, but not read all of it.
    const shared = foldersOf(owner, 0o777)
    chmodSync(join(shared, 'db/global/pg_control'), 0o600)
    // A process of theirs: which files may be read is asked for the real user.
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

  test('a lock may be read by others; one that may not is told in a sentence', async () => {
    const dataDir = foldersOf(owner, 0o700)
    const taken = await takeFolder(dataDir, 'command', null)
    const lock = join(dataDir, 'db.lock.1')
    expect(statSync(lock).mode & 0o777 & ~process.umask()).toBe(0o644 & ~process.umask())
    if ('lock' in taken) taken.lock.release()
    chmodSync(lock, 0o600)
    await as(owner, async () => {
      expect(await refusalOf(dataDir)).toMatch(
        /^DATA_DIR: .*db\.lock\.1, which this one may not read: .*remove it/,
      )
    })
    chmodSync(lock, 0o644)
    // In a folder where each may remove only what is its own.
    chmodSync(dataDir, 0o1777)
    chownSync(dataDir, another, another)
    await as(owner, async () => {
      const next = await takeFolder(dataDir, 'command', null)
      expect(next).toHaveProperty('lock')
      if ('lock' in next) next.lock.release()
    })
    expect(JSON.parse(readFileSync(join(dataDir, 'db.lock.2'), 'utf8'))).toMatchObject({ pid: 0 })
  })
})
