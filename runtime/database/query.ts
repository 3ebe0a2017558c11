/**
 * A query compiled once and run often: the builder, the wall and the compiler do their work at the first call, later
 * calls only fill in values. For the hot reads; anything whose text depends on its input uses `ctx.db`.
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
import { TenantWall } from '#db/wall'
import type { Context } from '#runtime/context'
import type { Wired } from '#runtime/wiring'

/** Stands for a value while the text is made. */
class Slot {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

const storeSlot = new Slot('store')

/**
 * Fewer values travel with each call: the store is one parameter, however many conditions of the wall name it, and a
 * number that is the same each time is part of the text.
 */
class StoreOnceCompiler extends PostgresQueryCompiler {
  #placeholder: string | null = null

  override compileQuery(...query: Parameters<PostgresQueryCompiler['compileQuery']>): CompiledQuery {
    this.#placeholder = null
    return super.compileQuery(...query)
  }

  protected override appendValue(parameter: unknown): void {
    if (parameter === storeSlot && this.#placeholder) this.append(this.#placeholder)
    else if (Number.isSafeInteger(parameter)) this.append(String(parameter))
    else {
      super.appendValue(parameter)
      if (parameter === storeSlot) this.#placeholder = this.getCurrentParameterPlaceholder()
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
}).withPlugin(new TenantWall(storeSlot))

/**
 * `build` gets placeholders instead of values: it must not look at them; and what sections give each other, which may
 * have parts of the text. Answers the rows. `plan` as of `Database.query`: `once` for rows by their id.
 * @example const byId = prepared((db, p: { id: string }) => db.selectFrom('stores').select('name').where('id', '=', p.id))
 */
export function prepared<P extends object, Row>(
  build: (db: Kysely<TenantTables>, values: P, wired: Wired) => Compilable<Row>,
  { plan }: { plan?: Plan | undefined } = {},
): (ctx: Context, values: P) => Promise<Row[]> {
  const compile = (wired: Wired): Text => {
    const slots = new Proxy({} as P, {
      get: (_target, name) => new Slot(String(name)),
      ownKeys() {
        throw new Error('Values of a prepared query are placeholders: take each by its name, spread none')
      },
    })
    const { sql, parameters, query } = build(compiling, slots, wired).compile()
    if ((plan === 'once' || plan === 'apart') && !SelectQueryNode.is(query)) {
      throw new Error(`A write goes by no plan '${plan}', whose connections do not wait for the disk`)
    }
    // The compiler's text is a chain of pieces, which the driver would walk along at every call: made one here.
    return { text: Buffer.from(sql).toString(), parameters }
  }
  // One in a server; the apps of tests have wirings of their own.
  const texts = new WeakMap<Wired, Text>()
  return (ctx, values) => {
    let made = texts.get(ctx.wired)
    if (!made) {
      made = compile(ctx.wired)
      texts.set(ctx.wired, made)
    }
    const given = made.parameters.map((each) => {
      if (each === storeSlot) return ctx.store.id
      return each instanceof Slot ? ((values as Record<string, unknown>)[each.name] ?? null) : each
    })
    return ctx.run<Row>(made.text, given, plan)
  }
}

interface Text {
  text: string
  parameters: readonly unknown[]
}
