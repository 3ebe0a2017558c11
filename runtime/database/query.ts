/**
 * Prepared queries for hot paths: the query builder, tenant isolation and the compiler run at the first call; later
 * calls only fill in values. A query whose text depends on its input uses `ctx.db` instead.
 */
import {
  type Compilable,
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SelectQueryNode,
} from 'kysely'
import type { Plan } from '#db/postgres/pool'
import type { TenantTables } from '#db/tables'
import { TenantScope } from '#db/tenant-scope'
import type { Context } from '#runtime/context'
import type { MergedExtensions } from '#runtime/extensions'

/** Stands in for a value while the query is compiled. */
class Placeholder {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

const storePlaceholder = new Placeholder('store')

/**
 * Compiles queries that need fewer values per call: the store's id is one parameter even if many conditions use it, and
 * constant numbers are part of the text.
 */
class StoreOnceCompiler extends PostgresQueryCompiler {
  #placeholder: string | null = null

  override compileQuery(...query: Parameters<PostgresQueryCompiler['compileQuery']>): CompiledQuery {
    this.#placeholder = null
    return super.compileQuery(...query)
  }

  protected override appendValue(parameter: unknown): void {
    if (parameter === storePlaceholder && this.#placeholder) this.append(this.#placeholder)
    else if (Number.isSafeInteger(parameter)) this.append(String(parameter))
    else {
      super.appendValue(parameter)
      if (parameter === storePlaceholder) this.#placeholder = this.getCurrentParameterPlaceholder()
    }
  }
}

const compiling = new Kysely<TenantTables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new StoreOnceCompiler(),
  },
}).withPlugin(new TenantScope(storePlaceholder))

/**
 * Prepares a query. `build` gets placeholders instead of values and must not inspect them; it also gets the merged
 * extensions, which may contribute parts of the query. The result is a function that runs the query and returns the
 * rows. `plan` is described at `Database.query`; `once` is for rows by their id.
 * @example const byId = prepared((db, p: { id: string }) => db.selectFrom('stores').select('name').where('id', '=',
 * p.id))
 */
export function prepared<P extends object, Row>(
  build: (db: Kysely<TenantTables>, values: P, extensions: MergedExtensions) => Compilable<Row>,
  { plan }: { plan?: Plan | undefined } = {},
): (ctx: Context, values: P) => Promise<Row[]> {
  const compile = (extensions: MergedExtensions): CompiledText => {
    const placeholders = new Proxy({} as P, {
      get: (_target, name) => new Placeholder(String(name)),
      ownKeys() {
        throw new Error('Values of a prepared query are placeholders: take each by its name, spread none')
      },
    })
    const { sql, parameters, query } = build(compiling, placeholders, extensions).compile()
    if ((plan === 'once' || plan === 'apart') && !SelectQueryNode.is(query)) {
      throw new Error(`A write goes by no plan '${plan}', whose connections do not wait for the disk`)
    }
    // V8 stores the compiler's text as many concatenated pieces, which the driver would traverse at every call. A copy
    // through a Buffer is contiguous.
    return { text: Buffer.from(sql).toString(), parameters }
  }
  // One text per set of extensions: a server has one set, but each app in a test has its own.
  const texts = new WeakMap<MergedExtensions, CompiledText>()
  return (ctx, values) => {
    let compiled = texts.get(ctx.extensions)
    if (!compiled) {
      compiled = compile(ctx.extensions)
      texts.set(ctx.extensions, compiled)
    }
    const bound = compiled.parameters.map((each) => {
      if (each === storePlaceholder) return ctx.store.id
      return each instanceof Placeholder ? ((values as Record<string, unknown>)[each.name] ?? null) : each
    })
    return ctx.runPrepared<Row>(compiled.text, bound, plan)
  }
}

interface CompiledText {
  text: string
  parameters: readonly unknown[]
}
