/** Settings of widgets: a row for each kind and store; what is saved is published. */
import { type SettingsSpec, settings } from '#runtime/database/settings'
import type { Change } from '#runtime/values/changes'
import { changed } from '../widgets/changed.ts'

type Table = 'widget_settings'
type Given = 'name' | 'table' | 'key' | 'isDated' | 'saved'

/** `key`: which widget. */
export const widgetSettings = <Content extends object, Input extends object = Change<Content>>(
  key: string,
  spec: Omit<SettingsSpec<Content, Table, Input>, Given>,
) =>
  settings<Content, Table, Input>({
    name: `widget:${key}`,
    table: 'widget_settings',
    key: { key },
    isDated: false,
    saved: changed,
    ...spec,
  })
