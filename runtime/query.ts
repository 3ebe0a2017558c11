/**
 * A query compiled once and run often: the builder, the wall and the compiler do their work at the first call, later
 * calls only fill in values. For the hot reads; anything whose text depends on its input uses `ctx.db`.
 */
import {
  type Compilable,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely'
import type { TenantTables } from '#db/tables'
import { TenantWall } from '#db/wall'
import type { Context } from './context.ts'

/** Stands for a value while the text is made. */
class Slot {
  readonly name: string
  constructor(name: string) {
    this.name = name
  }
}

const storeSlot = new Slot('store')
const compiling = new Kysely<TenantTables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
}).withPlugin(new TenantWall(storeSlot))

/**
 * `build` gets placeholders instead of values: it must not look at them. Answers the rows.
 * @example const byId = prepared((db, p: { id: string }) => db.selectFrom('campaigns').select('name').where('id', '=', p.id))
 */
export function prepared<P extends object, Row>(
  build: (db: Kysely<TenantTables>, values: P) => Compilable<Row>,
): (ctx: Context, values: P) => Promise<Row[]> {
  let text: string | null = null
  let fill: ((storeId: string, values: P) => unknown[]) | null = null
  return (ctx, values) => {
    if (text === null || fill === null) {
      const slots = new Proxy({} as P, { get: (_target, name) => new Slot(String(name)) })
      const compiled = build(compiling, slots).compile()
      const parameters = compiled.parameters
      text = compiled.sql
      fill = (storeId, given) =>
        parameters.map((each) => {
          if (each === storeSlot) return storeId
          return each instanceof Slot ? ((given as Record<string, unknown>)[each.name] ?? null) : each
        })
    }
    return ctx.run<Row>(text, fill(ctx.store.id, values))
  }
}
