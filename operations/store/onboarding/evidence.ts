/** SQL that finds out when each required step of the onboarding was done. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { TenantTables } from '#db/tables'
import { greatestKnown } from '#runtime/database/sql'
import { isLostSql } from '../health/health-rows.ts'
import type { OnboardingAnswers } from './schema.ts'

type Db = Kysely<TenantTables>

/** The JSON of `stores.onboarding`. */
export interface StoredOnboarding {
  answers?: Partial<OnboardingAnswers>
  /** When goals were first saved; null if there are none. */
  answersSavedAt?: string | null
  activatedFeatures?: string[]
  featuresActivatedAt?: string | null
  updatedAt?: string
}

/** When each required step was done; null if it is not done. The query must use the alias `s` for `stores`. */
export const requiredEvidence = (
  db: Db,
): Record<'platform' | 'answers' | 'features' | 'messaging', RawBuilder<Date | null>> => ({
  platform: sql`(${db
    .selectFrom('connections as c')
    .select('c.connected_at')
    .where('c.port', '=', 'ecommerce')
    .where(sql<boolean>`not ${isLostSql(db, 'c.port', '')}`)})`,
  answers: sql`(s.onboarding ->> 'answersSavedAt')::timestamptz`,
  features: sql`(s.onboarding ->> 'featuresActivatedAt')::timestamptz`,
  messaging: sql`(${db
    .selectFrom('messaging_connections as m')
    .select(sql`min(coalesce(m.connected_at, m.updated_at))`.as('at'))
    .where('m.status', '=', 'connected')
    .where(sql<boolean>`not ${isLostSql(db, 'messaging', 'm.type', 'm')}`)})`,
})

/** When the last required step was done; null if any of them is not done. */
export const onboardingCompletedAt = (db: Db): RawBuilder<Date | null> => {
  const { platform, answers, features, messaging } = requiredEvidence(db)
  return sql`case when ${platform} is not null and ${answers} is not null and ${features} is not null
      and ${messaging} is not null
    then coalesce(s.onboarding_completed_at, ${greatestKnown(platform, answers, features, messaging)}) end`
}
