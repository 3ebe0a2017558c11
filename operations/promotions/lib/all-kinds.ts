/** The kinds there are, by name. */
import { bundles } from './bundle-kind.ts'
import { gifts } from './gift-kind.ts'
import type { Kind, KindName } from './kinds.ts'
import { promotions } from './promotion-kind.ts'

const byName = { promotion: promotions as Kind, bundle: bundles as Kind, gift: gifts as Kind }

export const allKinds: readonly Kind[] = Object.values(byName)
export const kindOf = (name: KindName): Kind => byName[name]
