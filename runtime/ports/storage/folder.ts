import { randomBytes, randomUUID } from 'node:crypto'
import { type FileHandle, link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Unavailable } from '../errors.ts'
import type { Visibility } from './port.ts'

/** The metadata of a file; `size` in bytes. */
export interface FileFacts {
  contentType: string
  visibility: Visibility
  size: number
}

/** `<key>.meta.json`. `bytes` is the name of the content file in the same folder. */
interface Meta extends FileFacts {
  bytes: string
}

const abandonedAfterMs = 24 * 60 * 60 * 1000

/**
 * Files in a folder, written atomically: the content goes to a temporary file, gets a unique name next to the key, and
 * becomes current with the rename of the small `.meta.json` that names it. A crash at any moment leaves the old file
 * with its old visibility, or the new one with its new. Keys must be checked before. Throws `Unavailable` if the disk
 * fails.
 */
export function folder(dir: string) {
  const temporaryDir = join(dir, '.tmp')
  let swept = false

  async function temporaryFile(): Promise<string> {
    await mkdir(temporaryDir, { recursive: true })
    if (!swept) await sweep(temporaryDir)
    swept = true
    return join(temporaryDir, randomUUID())
  }

  return {
    facts(key: string): Promise<FileFacts | null> {
      return onDisk(readMeta(join(dir, key)))
    },

    /** Opens the file for reading; the caller closes `handle`. `etag`: differs after each write. */
    async open(key: string): Promise<{ facts: FileFacts; etag: string; handle: FileHandle } | null> {
      const path = join(dir, key)
      // If the file is replaced between reading the metadata and opening the content, the metadata is read again.
      for (let attempt = 0; attempt < 3; attempt++) {
        const meta = await onDisk(readMeta(path))
        if (!meta) return null
        const handle = await onDisk(ignoreMissing(open(join(dirname(path), meta.bytes))))
        if (handle) return { facts: meta, etag: `"${meta.bytes.slice(-16)}"`, handle }
      }
      return null
    },

    /**
     * Stores a file. If `chunks` throws, stores nothing and throws the same error. `once`: if the key has a file
     * already, leaves that file unchanged and returns false.
     */
    async write(
      key: string,
      chunks: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array>,
      facts: Omit<FileFacts, 'size'>,
      { once = false } = {},
    ): Promise<boolean> {
      const path = join(dir, key)
      const [content, note] = [await onDisk(temporaryFile()), await onDisk(temporaryFile())]
      try {
        const size = await writeChunks(content, chunks)
        const bytes = `${basename(path)}.${randomBytes(8).toString('hex')}`
        const meta: Meta = { ...facts, size, bytes }
        await writeChunks(note, [Buffer.from(JSON.stringify(meta))])
        await onDisk(mkdir(dirname(path), { recursive: true }))
        return await onDisk(
          serialize(async () => {
            const before = await readMeta(path)
            const place = join(dirname(path), bytes)
            await rename(content, place)
            if (once) {
              // Creating a hard link fails if the name exists, which also works between processes that share the disk.
              const isFirst = await linkIfAbsent(note, metaPath(path))
              if (!isFirst) await rm(place, { force: true })
              return isFirst
            }
            await rename(note, metaPath(path))
            if (before) await rm(join(dirname(path), before.bytes), { force: true })
            return true
          }),
        )
      } finally {
        await onDisk(Promise.all([rm(content, { force: true }), rm(note, { force: true })]))
      }
    },

    async remove(key: string): Promise<void> {
      const path = join(dir, key)
      await onDisk(
        serialize(async () => {
          const meta = await readMeta(path)
          await rm(metaPath(path), { force: true })
          if (meta) await rm(join(dirname(path), meta.bytes), { force: true })
        }),
      )
    },
  }
}

const metaPath = (path: string): string => `${path}.meta.json`

async function readMeta(path: string): Promise<Meta | null> {
  const text = await ignoreMissing(readFile(metaPath(path), 'utf8'))
  return text === null ? null : (JSON.parse(text) as Meta)
}

async function writeChunks(
  path: string,
  chunks: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array>,
): Promise<number> {
  const file = await onDisk(open(path, 'wx', 0o600))
  try {
    let size = 0
    for await (const chunk of chunks) {
      const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
      await onDisk(file.writeFile(bytes))
      size += bytes.byteLength
    }
    // Without `sync`, the rename could survive a power failure and the content not.
    await onDisk(file.sync())
    return size
  } finally {
    await file.close()
  }
}

let lastWrite: Promise<unknown> = Promise.resolve()
/** Runs commits one after the other: two concurrent writers of one key would leave content that no file uses. */
function serialize<T>(work: () => Promise<T>): Promise<T> {
  const mine = lastWrite.then(work, work)
  lastWrite = mine
  return mine
}

/** Removes the temporary files of a process that died. */
async function sweep(temporaryDir: string): Promise<void> {
  for (const name of await readdir(temporaryDir)) {
    const path = join(temporaryDir, name)
    const found = await ignoreMissing(stat(path))
    // biome-ignore lint/nursery/noJsRestrictedProperties: it compares with the times of files
    if (found && Date.now() - found.mtimeMs > abandonedAfterMs) await rm(path, { force: true })
  }
}

/** Creates a hard link; false if a file with that name exists. */
async function linkIfAbsent(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Awaits `work`; null if it fails because the file does not exist. */
async function ignoreMissing<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
}

async function onDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw new Unavailable('no', 'The disk does not answer', { cause })
  }
}
