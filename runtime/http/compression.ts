/** Compresses texts off the main thread, in the encoding that the client prefers. */
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib'
import { parseAccept } from 'hono/utils/accept'

export type Encoding = 'br' | 'gzip' | 'zstd' | 'identity'
export type Bytes = Uint8Array<ArrayBuffer>

/** `lasting`: for a text that all stores share, worth 40 ms of CPU time. `passing`: for other texts, takes 2 ms. */
export type Effort = 'lasting' | 'passing'
const brotliQuality = { lasting: 11, passing: 5 }
const gzipLevel = { lasting: 9, passing: 6 }

const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants
const compressors = {
  br: promisify(brotliCompress),
  gzip: promisify(gzip),
  zstd: promisify(zstdCompress),
}

export async function compress(text: string, encoding: Encoding, effort: Effort): Promise<Bytes> {
  const bytes = Buffer.from(text)
  switch (encoding) {
    case 'identity':
      return Uint8Array.from(bytes)
    case 'gzip':
      return Uint8Array.from(await compressors.gzip(bytes, { level: gzipLevel[effort] }))
    case 'zstd':
      return Uint8Array.from(await compressors.zstd(bytes))
    case 'br': {
      const params = {
        [BROTLI_PARAM_QUALITY]: brotliQuality[effort],
        [BROTLI_PARAM_SIZE_HINT]: bytes.length,
      }
      return Uint8Array.from(await compressors.br(bytes, { params }))
    }
  }
}

/** Returns the offered encoding that an `Accept-Encoding` header rates highest; the first of several equals. */
export function chooseEncoding(
  header: string | null | undefined,
  offered: readonly Exclude<Encoding, 'identity'>[],
): Encoding {
  const accepted = parseAccept(header ?? '').map(({ type, q }) => ({ type: type.toLowerCase(), q }))
  const quality = (encoding: Encoding): number =>
    (accepted.find(({ type }) => type === encoding) ?? accepted.find(({ type }) => type === '*'))?.q ?? 0
  const best = offered.toSorted((a, b) => quality(b) - quality(a))[0]!
  return quality(best) > 0 ? best : 'identity'
}
