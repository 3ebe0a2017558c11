/** Permissions of the folders with rows and files. */
import fs, {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openPglite } from '#db/open'
import { makePrivateFolder } from '#db/private-folder'
import { testApp } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'

const root = mkdtempSync(join(tmpdir(), 'merchant-private-'))
whenFileEnds(() => rmSync(root, { recursive: true, force: true }))
const readMode = (path: string): string => (statSync(path).mode & 0o777).toString(8)

test('the database of a folder belongs to its user only, also one that was open to everybody', async () => {
  const folder = join(root, 'db')
  for (let times = 0; times < 2; times += 1) {
    const database = await openPglite({ dataDir: folder })
    try {
      expect(existsSync(join(folder, 'PG_VERSION'))).toBe(true)
      expect(readMode(folder)).toBe('700')
    } finally {
      await database.close()
    }
    chmodSync(folder, 0o755)
  }
})

test('the files of a server are private', async () => {
  const app = await testApp()
  expect(readdirSync(app.dataDir)).toContain('files')
  expect(readMode(join(app.dataDir, 'files')).at(-1)).toBe('0')
})

test("a group keeps its permissions if it should; another user's folder is left unchanged", () => {
  for (const [before, forGroup, after] of [
    [0o775, true, '770'],
    [0o775, false, '700'],
    [0o700, true, '700'],
    [0o2775, true, '770'],
  ] as const) {
    const folder = join(root, `${before}-${forGroup}`)
    mkdirSync(folder)
    chmodSync(folder, before)
    makePrivateFolder(folder, { forGroup })
    expect(readMode(folder)).toBe(after)
  }
  if (process.getuid?.() !== 0) return
  const others = join(root, 'others')
  mkdirSync(others)
  chmodSync(others, 0o755)
  chownSync(others, 12345, 12345)
  makePrivateFolder(others)
  expect(readMode(others)).toBe('755')
})

test('a file system without modes does not stop a start; another error does', () => {
  const folder = join(root, 'modeless')
  mkdirSync(folder)
  chmodSync(folder, 0o755)
  const fails = (code: string): void => {
    fs.chmodSync = () => {
      throw Object.assign(new Error('no modes'), { code })
    }
    syncBuiltinESMExports()
  }
  const real = fs.chmodSync
  try {
    for (const code of ['EPERM', 'ENOTSUP']) {
      fails(code)
      makePrivateFolder(folder)
    }
    fails('EIO')
    expect(() => makePrivateFolder(folder)).toThrow('no modes')
  } finally {
    fs.chmodSync = real
    syncBuiltinESMExports()
  }
})
