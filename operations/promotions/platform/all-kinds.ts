/** Lists all kinds of discounts and finds them by name. */
import { bundles } from '../bundles/kind.ts'
import type { KindName } from '../discounts/draft.ts'
import type { Kind } from '../discounts/kinds.ts'
import { gifts } from '../gifts/kind.ts'
import { promotions } from '../promotions/kind.ts'

const byName = { promotion: promotions as Kind, bundle: bundles as Kind, gift: gifts as Kind }

export const allKinds: readonly Kind[] = Object.values(byName)
export const getKind = (name: KindName): Kind => byName[name]
