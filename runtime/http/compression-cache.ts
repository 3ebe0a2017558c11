/** Compresses texts that many browsers fetch: once, at the first request and off the main thread. */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { matchesEtag } from '#runtime/gateway/etag'

type Encoding = 'br' | 'gzip' | 'identity'
type Bytes = Uint8Array<ArrayBuffer>

/** `lasting`: for a text that all stores share, worth 40 ms of CPU time. `passing`: for other texts, takes 2 ms. */
export type Effort = 'lasting' | 'passing'
const brotliQuality = { lasting: 11, passing: 5 }
const gzipLevel = { lasting: 9, passing: 6 }

const compress = {
  br: promisify(brotliCompress),
  gzip: promisify(gzip),
}

export class CompressedText {
  readonly type: string
  readonly etag: string
  readonly text: string
  readonly #effort: Effort
  readonly #bodies = new Map<Encoding, Promise<Bytes>>()

  /**
   * `etag`: a tag that replaces the default, a hash of the text. `br`: the text, already compressed by Brotli.
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
      body = this.#compress(encoding)
      this.#bodies.set(encoding, body)
    }
    return body
  }

  async #compress(encoding: Encoding): Promise<Bytes> {
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

/** Answers in the encoding that the browser prefers; 304 if it has the text already. */
export async function answerCompressed(
  packed: CompressedText,
  request: { header(name: string): string | null },
  headers: Record<string, string>,
): Promise<Response> {
  const all = { ...headers, vary: 'accept-encoding', etag: packed.etag }
  if (matchesEtag(request.header('if-none-match') ?? undefined, packed.etag)) {
    return new Response(null, { status: 304, headers: all })
  }
  const encoding = chooseEncoding(request.header('accept-encoding'))
  return new Response(await packed.body(encoding), {
    headers: {
      ...all,
      'content-type': packed.type,
      'x-content-type-options': 'nosniff',
      ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    },
  })
}

function chooseEncoding(accepts: string | null): Encoding {
  const accepted = (accepts ?? '').split(',').flatMap((each) => {
    const [name, ...parameters] = each.split(';').map((part) => part.trim().toLowerCase())
    const quality = parameters.map((part) => part.split('=')).find(([key]) => key!.trim() === 'q')?.[1]
    return Number(quality ?? 1) > 0 ? [name!] : []
  })
  return (['br', 'gzip'] as const).find((each) => accepted.includes(each)) ?? 'identity'
}
