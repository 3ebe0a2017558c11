/**
 * An operation of the API: one file, one default export of `operation({…})`. All that the gateway, the
 * documents and the assistants know of it is here.
 */
import type { Context } from './context.ts'
import type { ErrorCode } from './errors.ts'
import type { Consequence, Method, Role, Scope } from './roles.ts'
import { z } from './schema.ts'

export { z }

/** JSON that the database wrote already: sent as it is. */
export class JsonText {
  readonly text: string
  /** Headers of its own, such as X-Total-Capped. */
  readonly headers: Record<string, string> | undefined
  /** What its ETag is made of, where the text has what changes by itself: addresses signed anew, say. */
  readonly identity: string
  constructor(text: string, headers?: Record<string, string>, identity: string = text) {
    this.text = text
    this.headers = headers
    this.identity = identity
  }
}

type PathParams<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? { [K in Name]: string } & PathParams<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? { [K in Name]: string }
    : Record<never, string>

type Parsed<S> = S extends z.ZodTypeAny ? z.infer<S> : undefined
// biome-ignore lint/suspicious/noConfusingVoidType: a handler without an answer may simply end
type Answered<S> = S extends z.ZodTypeAny ? z.input<S> | JsonText : void

export interface OperationSpec<
  P extends string,
  Q extends z.ZodTypeAny | undefined,
  B extends z.ZodTypeAny | undefined,
  A extends z.ZodTypeAny | undefined,
> {
  method: Method
  /** Without `/v1`, parameters as `:name`. */
  path: P
  /** One sentence, in plain words, of what it does to whom. */
  description: string
  /** More for the documents: rules worth knowing before calling. */
  details?: string
  /** What merchants call it that is not in the description: assistants find it by these words. */
  words?: string
  /** `[]` for what any key may call. */
  scopes: readonly Scope[]
  readOnly: boolean
  /** The plan's feature it belongs to; left out where every plan has it. */
  feature?: string
  /** Least role of the key's creator. Default: `agent` reads, `member` writes, `owner` for team and billing. */
  minimumRole?: Role
  /** A write that a paused or ended subscription may still do. */
  whilePaused?: boolean
  /** No key is asked for; the reason why that is safe. */
  public?: string
  /** `body` optional as a whole where none of its fields is required. */
  input?: { params?: Record<string, string>; query?: Q; body?: B }
  answer: { status: 200 | 201 | 202 | 204; body?: A; description?: string }
  /** The refusals of its own, as told in the documents; the pipeline's are declared for it. */
  refuses?: Partial<Record<ErrorCode, string>>
  /** The answer is one resource: it gets an ETag. */
  etag?: boolean
  /**
   * What an `If-Match` of this write is compared with, where its path does not say it (`if-match.ts`): the paths of
   * reads with an ETag, or, of a resource that no operation reads alone, what reads it. `of`: its schema, where the
   * write does not answer it.
   */
  ifMatch?:
    | readonly string[]
    | {
        of?: z.ZodTypeAny
        read(
          ctx: Context,
          input: { params: PathParams<P>; query: Parsed<Q>; body: Parsed<B> },
        ): Promise<unknown> | unknown
      }
  /**
   * Paths of the reads that show what this write would do: whom it reaches, how it looks, what it costs. Assistants are
   * told to look there before they ask the merchant.
   */
  lookFirst?: readonly string[]
  /**
   * What of it nobody can take back, beside what its scopes and DELETE say by themselves: that somebody outside is written
   * to, that something is gone, or over for good. Assistants are told to ask the merchant first.
   */
  consequences?: readonly Consequence[]
  /** Answers to If-None-Match and this Cache-Control. */
  cache?: string
  /**
   * `whole` (a write's default): the handler runs in one transaction. `statement`: it is a single statement, which
   * is its own transaction. `own`: the handler opens them itself, around calls to providers; a read that calls one
   * says so too, since the tests would otherwise hold a transaction open around it.
   */
  transaction?: 'whole' | 'statement' | 'own'
  /** A call that works, for the documents. Path parameters, query and body as in `input`. */
  example?: {
    params?: Record<string, string>
    query?: Record<string, unknown>
    body?: unknown
    answer?: unknown
  }
  handler(
    ctx: Context,
    input: { params: PathParams<P>; query: Parsed<Q>; body: Parsed<B> },
  ): Promise<Answered<A>> | Answered<A>
}

/** What is left of the types once an operation is declared: one form for all. */
export interface Operation {
  readonly kind: 'operation'
  readonly spec: OperationSpec<
    string,
    z.ZodTypeAny | undefined,
    z.ZodTypeAny | undefined,
    z.ZodTypeAny | undefined
  >
}

export function operation<
  const P extends string,
  Q extends z.ZodTypeAny | undefined = undefined,
  B extends z.ZodTypeAny | undefined = undefined,
  A extends z.ZodTypeAny | undefined = undefined,
>(spec: OperationSpec<P, Q, B, A>): Operation {
  return { kind: 'operation', spec: spec as unknown as Operation['spec'] }
}
