/** Reads request bodies with a size limit. A body that is too large is refused as soon as that is known. */
import { ApiError, refuse } from '#runtime/errors'

/** The limit of an operation's body, in bytes. */
export const bodyAtMost = 15 * 1024 * 1024

const tooLargeError = (atMost: number): ApiError =>
  new ApiError('payload_too_large', `The body is larger than ${sizeText(atMost)}`)
/** `32 KiB`, `1.5 MiB`. */
function sizeText(bytes: number): string {
  const kibibytes = bytes / 1024
  return kibibytes < 1024
    ? `${Math.round(kibibytes)} KiB`
    : // biome-ignore lint/plugin/cents: mebibytes, not money
      `${Math.round((kibibytes / 1024) * 100) / 100} MiB`
}

/** The client disconnected or sent an invalid body. A 400, since nothing of ours failed. */
const bodyAbortedError = (): ApiError => refuse('bad_request', 'body: broke off before its end')
const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Decodes UTF-8; refuses anything else. */
export function utf8Text(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b
    throw refuse(
      'bad_request',
      isGzip ? 'body: is packed by gzip: send it as it is' : 'body: is not valid UTF-8',
    )
  }
}

/** Reads the body of a request. `length`: its `Content-Length`. */
export async function readBytes(
  request: Request,
  length: string | undefined,
  atMost: number,
): Promise<Uint8Array> {
  if (length !== undefined && Number(length) > atMost) throw tooLargeError(atMost)
  if (length === '0') return new Uint8Array()
  try {
    if (length !== undefined) return new Uint8Array(await request.arrayBuffer())
    return request.body ? await readChunks(request.body, atMost) : new Uint8Array()
  } catch (error) {
    throw error instanceof ApiError ? error : bodyAbortedError()
  }
}

/**
 * Reads a body up to the limit. A refusal drains the rest of the body: otherwise the client might not read the answer.
 */
async function readChunks(body: ReadableStream<Uint8Array>, atMost: number): Promise<Uint8Array> {
  const reader = body.getReader()
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Buffer.concat(chunks)
    size += value.byteLength
    if (size > atMost) {
      void drop(reader, atMost)
      throw tooLargeError(atMost)
    }
    chunks.push(value)
  }
}

async function drop(reader: ReadableStreamDefaultReader<Uint8Array>, atMost: number): Promise<void> {
  try {
    for (let dropped = 0; dropped < atMost * 2; ) {
      const { done, value } = await reader.read()
      if (done) return
      dropped += value.byteLength
    }
    await reader.cancel()
  } catch {
    // The client disconnected: nothing is left to drain.
  }
}
