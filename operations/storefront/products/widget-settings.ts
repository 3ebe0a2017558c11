/** Settings of widgets: one row per widget and store. Saving them publishes them to the storefront. */
import { type SettingsSpec, settings } from '#runtime/database/settings'
import type { Change } from '#runtime/values/changes'
import { markStorefrontChanged } from '../widgets/revision.ts'

type Table = 'widget_settings'
type Given = 'name' | 'table' | 'key' | 'isDated' | 'saved'

/** `key` identifies the widget. */
export const widgetSettings = <Content extends object, Input extends object = Change<Content>>(
  key: string,
  spec: Omit<SettingsSpec<Content, Table, Input>, Given>,
) =>
  settings<Content, Table, Input>({
    name: `widget:${key}`,
    table: 'widget_settings',
    key: { key },
    isDated: false,
    onSaved: markStorefrontChanged,
    ...spec,
  })
