import type { ResourceConfig } from '../../../core/config/schema/settings.ts';
import type { CredentialSettings } from '../../../core/credentials/authorize.ts';
import type { Resource } from '../../../core/resources/resource.ts';
import type { TappedRequest } from '../../../core/upstream/client/tap.ts';
import type { Look, Try } from './trial.ts';

/** A read that succeeded, as experiments see it. */
export interface Subject {
  readonly resource: Resource;
  readonly settings: ResourceConfig;
  readonly credential: CredentialSettings;
  /** Whether the file says it, of a key of the resource. */
  readonly isWritten: (key: string) => boolean;
  readonly request: TappedRequest;
  readonly first: Look;
  /** Items that came, before `where`. */
  readonly received: number;
  /** Items that are served. */
  readonly items: number;
  /** How many of them took the default of a field. */
  readonly defaulted: ReadonlyMap<string, number>;
  readonly attempt: Try;
}

/** What an experiment shows. `finding` and `setting` are stable; `setting` is a dotted path. */
export interface Shown {
  readonly finding:
    | 'public_list'
    | 'parameter_ignored'
    | 'pages_incomplete'
    | 'list_empty'
    | 'default_query'
    | 'default_hides_field';
  readonly setting: string;
  readonly text: string;
  /** Set where a correct setting can show the same with the items of today: it does not fail `--strict`. */
  readonly mayBeRight?: true;
}

export interface Experiment {
  readonly name: string;
  /** Rejects with `NotTried` where it shows nothing. */
  readonly run: (subject: Subject) => readonly Shown[] | Promise<readonly Shown[]>;
}
