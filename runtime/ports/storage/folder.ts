import { randomBytes, randomUUID } from 'node:crypto'
import { type FileHandle, link, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Unavailable } from '../errors.ts'
import type { Visibility } from './port.ts'

/** What is known of a file; `size` in bytes. */
export interface FileFacts {
  contentType: string
  visibility: Visibility
  size: number
}

/** `<key>.meta.json`. `bytes` is the file beside it that holds the content. */
interface Meta extends FileFacts {
  bytes: string
}

const abandonedAfterMs = 24 * 60 * 60 * 1000

/**
 * Files in a folder, each write all or nothing: the content goes to a temporary file, gets a name of its own
 * beside the key, and counts from the rename of the small `.meta.json` that names it. A crash at any moment
 * leaves the old file with its old visibility, or the new one with its new. Keys are taken as checked.
 * Throws `Unavailable` when the disk does not answer.
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

    /** The file opened for reading; closing `handle` is the caller's. */
    async open(key: string): Promise<{ facts: FileFacts; handle: FileHandle } | null> {
      const path = join(dir, key)
      // Between the note and the content the file can be replaced: then the note is read again.
      for (let attempt = 0; attempt < 3; attempt++) {
        const meta = await onDisk(readMeta(path))
        if (!meta) return null
        const handle = await onDisk(orNull(open(join(dirname(path), meta.bytes))))
        if (handle) return { facts: meta, handle }
      }
      return null
    },

    /**
     * Throws what `chunks` throws, and then keeps nothing of it. `once`: answers false where the key holds a file
     * already, and leaves that as it is.
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
          inTurn(async () => {
            const before = await readMeta(path)
            const place = join(dirname(path), bytes)
            await rename(content, place)
            if (once) {
              // A link fails where there is one: also between processes that share the disk.
              const isFirst = await linked(note, metaPath(path))
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
        inTurn(async () => {
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
  const text = await orNull(readFile(metaPath(path), 'utf8'))
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
    // Without it a power cut could keep the rename and lose the content.
    await onDisk(file.sync())
    return size
  } finally {
    await file.close()
  }
}

let lastTurn: Promise<unknown> = Promise.resolve()
/** One commit after the other: of two writers of one key, neither leaves content that nothing names. */
function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const mine = lastTurn.then(work, work)
  lastTurn = mine
  return mine
}

/** Removes what a process that died has left half written. */
async function sweep(temporaryDir: string): Promise<void> {
  for (const name of await readdir(temporaryDir)) {
    const path = join(temporaryDir, name)
    const found = await orNull(stat(path))
    // biome-ignore lint/nursery/noJsRestrictedProperties: it compares with the times of files
    if (found && Date.now() - found.mtimeMs > abandonedAfterMs) await rm(path, { force: true })
  }
}

/** False when there is a file of that name. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** Null when there is no such file. */
async function orNull<T>(work: Promise<T>): Promise<T | null> {
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
