# bash completion for mesosctl; made from its commands by python -m mesosctl.cli.reference
_mesosctl() {
    local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}"
    local path=mesosctl word skip= i
    COMPREPLY=()
    # bash makes three words of --output=json
    if [[ $current == "=" ]]; then current=""
    elif [[ $previous == "=" ]]; then previous="${COMP_WORDS[COMP_CWORD-2]}"; fi
    for ((i = 1; i < COMP_CWORD; i++)); do
        word="${COMP_WORDS[i]}"
        if [[ $word == "=" ]]; then continue; fi
        if [[ -n $skip ]]; then skip=; continue; fi
        case "$word" in
            --agent|--api|--attribute|--burst|--cacert|--capacity|--cert|--changes|--count|--every|--file|--for|--framework|--headroom|--id|--interval|--key|--label|--limit|--master|--memory|--message-size|--offer|--output|--path|--principal|--qps|--reserve|--reserver|--role|--secret-file|--steps|--svg|--timeout|--traffic|--under|--unreserve|--wait-for|-f|-o) skip=1; continue ;;
        esac
        case "$path $word" in
            'mesosctl offers'|'mesosctl offers explain'|'mesosctl offers list'|'mesosctl offers reserve'|'mesosctl offers simulate'|'mesosctl offers take'|'mesosctl offers unreserve'|'mesosctl offers watch'|'mesosctl quota'|'mesosctl quota check'|'mesosctl quota list'|'mesosctl quota remove'|'mesosctl quota set'|'mesosctl quota show'|'mesosctl quota update'|'mesosctl ratelimit'|'mesosctl ratelimit default'|'mesosctl ratelimit plan'|'mesosctl ratelimit set'|'mesosctl ratelimit show'|'mesosctl ratelimit simulate'|'mesosctl ratelimit suggest'|'mesosctl ratelimit unset'|'mesosctl ratelimit validate'|'mesosctl ratelimit watch'|'mesosctl reservations'|'mesosctl reserve'|'mesosctl unreserve'|'mesosctl volumes'|'mesosctl volumes create'|'mesosctl volumes destroy'|'mesosctl volumes list') path="$path $word" ;;
        esac
    done
    case "$previous" in
        --master) return ;;
        -o|--output) COMPREPLY=($(compgen -W "table wide json jsonl csv name" -- "$current")); return ;;
        --timeout) return ;;
        --principal) return ;;
        --secret-file) COMPREPLY=($(compgen -f -- "$current")); return ;;
        --cacert) COMPREPLY=($(compgen -f -- "$current")); return ;;
        --cert) COMPREPLY=($(compgen -f -- "$current")); return ;;
        --key) COMPREPLY=($(compgen -f -- "$current")); return ;;
        --api) COMPREPLY=($(compgen -W "auto v0 v1" -- "$current")); return ;;
        --framework) return ;;
        --role) return ;;
        --agent) return ;;
        --offer) COMPREPLY=($(compgen -f -- "$current")); return ;;
        --id) return ;;
        --for) return ;;
        --label) return ;;
        --steps) return ;;
        --svg) COMPREPLY=($(compgen -f -- "$current")); return ;;
        --reserve) return ;;
        --unreserve) return ;;
        --every) return ;;
        --changes) return ;;
        -f|--file) COMPREPLY=($(compgen -f -- "$current")); return ;;
        --limit) return ;;
        --qps) return ;;
        --capacity) return ;;
        --memory) return ;;
        --message-size) return ;;
        --traffic) return ;;
        --interval) return ;;
        --headroom) return ;;
        --burst) return ;;
        --count) return ;;
        --wait-for) return ;;
        --under) return ;;
        --reserver) return ;;
        --attribute) return ;;
        --path) return ;;
    esac
    case "$path" in
        'mesosctl') COMPREPLY=($(compgen -W "offers quota ratelimit reservations reserve unreserve volumes --version --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl offers') COMPREPLY=($(compgen -W "explain list reserve simulate take unreserve watch --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl offers explain') COMPREPLY=($(compgen -W "--master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl offers list') COMPREPLY=($(compgen -W "--framework --role --agent --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl offers reserve') COMPREPLY=($(compgen -W "--offer --id --for --label --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl offers simulate') COMPREPLY=($(compgen -W "--steps --svg --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl offers take') COMPREPLY=($(compgen -W "--role --reserve --unreserve --agent --label --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl offers unreserve') COMPREPLY=($(compgen -W "--offer --id --for --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl offers watch') COMPREPLY=($(compgen -W "--framework --role --agent --every --changes --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota') COMPREPLY=($(compgen -W "check list remove set show update --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota check') COMPREPLY=($(compgen -W "--master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota list') COMPREPLY=($(compgen -W "--master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota remove') COMPREPLY=($(compgen -W "--master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota set') COMPREPLY=($(compgen -W "--force -f --file --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota show') COMPREPLY=($(compgen -W "--master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl quota update') COMPREPLY=($(compgen -W "--limit --force --create -f --file --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit') COMPREPLY=($(compgen -W "default plan set show simulate suggest unset validate watch --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit default') COMPREPLY=($(compgen -W "-f --file --qps --capacity --none --dry-run --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit plan') COMPREPLY=($(compgen -W "--memory --message-size --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit set') COMPREPLY=($(compgen -W "-f --file --qps --capacity --dry-run --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit show') COMPREPLY=($(compgen -W "--master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit simulate') COMPREPLY=($(compgen -W "--traffic --svg --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit suggest') COMPREPLY=($(compgen -W "--for --interval --headroom --burst -f --file --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit unset') COMPREPLY=($(compgen -W "-f --file --dry-run --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit validate') COMPREPLY=($(compgen -W "--live --strict --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl ratelimit watch') COMPREPLY=($(compgen -W "--interval --count --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl reservations') COMPREPLY=($(compgen -W "--role --agent --tree --wait-for --trust-master --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl reserve') COMPREPLY=($(compgen -W "--role --under --label --reserver --any --count --attribute -f --file --trust-master --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl unreserve') COMPREPLY=($(compgen -W "--role --under --label --reserver --all -f --file --trust-master --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl volumes') COMPREPLY=($(compgen -W "create destroy list --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl volumes create') COMPREPLY=($(compgen -W "--role --under --label --reserver --path --trust-master --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl volumes destroy') COMPREPLY=($(compgen -W "--role --trust-master --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
        'mesosctl volumes list') COMPREPLY=($(compgen -W "--role --agent --master -o --output --timeout --principal --secret-file --cacert --cert --key --api --no-wait -y --yes -q --quiet -v --verbose -h --help" -- "$current")) ;;
    esac
}
complete -F _mesosctl mesosctl
