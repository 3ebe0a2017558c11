/** Texts that many browsers fetch: compressed at their first request, away from the thread that answers, and kept. */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { isNamedBy } from '#runtime/gateway/etag'

type Encoding = 'br' | 'gzip' | 'identity'
type Bytes = Uint8Array<ArrayBuffer>

/** `lasting`: the same for every store, worth 40 ms of a processor once; others are as small as 2 ms make them. */
export type Effort = 'lasting' | 'passing'
const brotliQuality = { lasting: 11, passing: 5 }
const gzipLevel = { lasting: 9, passing: 6 }

const compress = {
  br: promisify(brotliCompress),
  gzip: promisify(gzip),
}

export class Packed {
  readonly type: string
  readonly etag: string
  readonly text: string
  readonly #effort: Effort
  readonly #bodies = new Map<Encoding, Promise<Bytes>>()

  /**
   * `etag`: where the caller has a name for the text's state, instead of the text's own hash. `br`: where it is there
   * compressed already.
   */
  constructor(
    text: string,
    { type, effort, etag, br }: { type: string; effort: Effort; etag?: string | undefined; br?: Bytes },
  ) {
    if (br) this.#bodies.set('br', Promise.resolve(br))
    this.type = type
    this.etag = etag ?? `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`
    this.text = text
    this.#effort = effort
  }

  body(encoding: Encoding): Promise<Bytes> {
    let body = this.#bodies.get(encoding)
    if (!body) {
      body = this.#made(encoding)
      this.#bodies.set(encoding, body)
    }
    return body
  }

  async #made(encoding: Encoding): Promise<Bytes> {
    const bytes = Buffer.from(this.text)
    if (encoding === 'identity') return Uint8Array.from(bytes)
    if (encoding === 'gzip')
      return Uint8Array.from(await compress.gzip(bytes, { level: gzipLevel[this.#effort] }))
    const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = constants
    const params = {
      [BROTLI_PARAM_QUALITY]: brotliQuality[this.#effort],
      [BROTLI_PARAM_SIZE_HINT]: bytes.length,
    }
    return Uint8Array.from(await compress.br(bytes, { params }))
  }
}

/** In the encoding that the browser would rather have; 304 where it has the text already. */
export async function packedAnswer(
  packed: Packed,
  request: { header(name: string): string | null },
  headers: Record<string, string>,
): Promise<Response> {
  const all = { ...headers, vary: 'accept-encoding', etag: packed.etag }
  if (isNamedBy(request.header('if-none-match') ?? undefined, packed.etag)) {
    return new Response(null, { status: 304, headers: all })
  }
  const encoding = wanted(request.header('accept-encoding'))
  return new Response(await packed.body(encoding), {
    headers: {
      ...all,
      'content-type': packed.type,
      'x-content-type-options': 'nosniff',
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    },
  })
}

function wanted(accepts: string | null): Encoding {
  const taken = (accepts ?? '').split(',').flatMap((each) => {
    const [name, ...parameters] = each.split(';').map((part) => part.trim().toLowerCase())
    const quality = parameters.map((part) => part.split('=')).find(([key]) => key!.trim() === 'q')?.[1]
    return Number(quality ?? 1) > 0 ? [name!] : []
  })
  return (['br', 'gzip'] as const).find((each) => taken.includes(each)) ?? 'identity'
}
