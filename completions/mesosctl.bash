# bash completion for mesosctl; made from its commands by python -m mesosctl.cli.reference

_mesosctl_takes_value() {
    case "$1" in
        --master|--context|-o|--output|--timeout|--principal|--secret-file|--token-file|--token-scheme|--secret-from|--cacert|--cert|--key|--api|-f|--file|--report|--unset|--framework|--role|--agent|--offer|--id|--for|--label|--steps|--svg|--reserve|--unreserve|--every|--changes|--limit|--qps|--capacity|--memory|--message-size|--traffic|--interval|--headroom|--burst|--count|--wait-for|--under|--reserver|--attribute|--from|--compare|--path|--lose-agent|--lose-fraction|--add-agent|--lose-framework|--cycles|--assume) return 0 ;;
        *) return 1 ;;
    esac
}

_mesosctl_goes_along() {
    case "$1" in
        --master|--context|--principal|--secret-file|--token-file|--token-scheme|--secret-from|--cacert|--cert|--key) return 0 ;;
        *) return 1 ;;
    esac
}

_mesosctl_is_command() {
    case "$1" in
        'mesosctl apply'|'mesosctl completion'|'mesosctl context'|'mesosctl context list'|'mesosctl context remove'|'mesosctl context set'|'mesosctl context show'|'mesosctl context use'|'mesosctl diff'|'mesosctl export'|'mesosctl offers'|'mesosctl offers explain'|'mesosctl offers list'|'mesosctl offers reserve'|'mesosctl offers simulate'|'mesosctl offers take'|'mesosctl offers unreserve'|'mesosctl offers watch'|'mesosctl quota'|'mesosctl quota check'|'mesosctl quota list'|'mesosctl quota remove'|'mesosctl quota set'|'mesosctl quota show'|'mesosctl quota update'|'mesosctl ratelimit'|'mesosctl ratelimit default'|'mesosctl ratelimit plan'|'mesosctl ratelimit set'|'mesosctl ratelimit show'|'mesosctl ratelimit simulate'|'mesosctl ratelimit suggest'|'mesosctl ratelimit unset'|'mesosctl ratelimit validate'|'mesosctl ratelimit watch'|'mesosctl reservations'|'mesosctl reserve'|'mesosctl snapshot'|'mesosctl unreserve'|'mesosctl volumes'|'mesosctl volumes create'|'mesosctl volumes destroy'|'mesosctl volumes list'|'mesosctl whatif') return 0 ;;
        *) return 1 ;;
    esac
}

_mesosctl_after_option() {
    case "$1" in
        --master) choices=('fake:' 'http://' 'https://' 'zk://' 'file:///') ;;
        --context) kinds=context ;;
        -o|--output) choices=(table wide json jsonl csv name) ;;
        --timeout) kinds= ;;
        --principal) kinds= ;;
        --secret-file) kinds=file ;;
        --token-file) kinds=file ;;
        --token-scheme) choices=(bearer dcos) ;;
        --secret-from) choices=(prompt keyring) ;;
        --cacert) kinds=file ;;
        --cert) kinds=file ;;
        --key) kinds=file ;;
        --api) choices=(auto v0 v1) ;;
        -f|--file) kinds=file ;;
        --report) kinds=file ;;
        --unset) choices=('master' 'output' 'timeout' 'principal' 'secret' 'secret-file' 'token' 'token-file' 'token-scheme' 'secret-from' 'cacert' 'cert' 'key' 'api' 'no-wait' 'dry-run' 'quiet' 'verbose') ;;
        --framework) kinds=framework ;;
        --role) kinds=role ;;
        --agent) kinds=agent ;;
        --offer) kinds=file ;;
        --id) kinds= ;;
        --for) kinds=role ;;
        --label) kinds= ;;
        --steps) kinds= ;;
        --svg) kinds=file ;;
        --reserve) kinds= ;;
        --unreserve) kinds= ;;
        --every) kinds= ;;
        --changes) kinds= ;;
        --limit) kinds= ;;
        --qps) kinds= ;;
        --capacity) kinds= ;;
        --memory) kinds= ;;
        --message-size) kinds= ;;
        --traffic) kinds= ;;
        --interval) kinds= ;;
        --headroom) kinds= ;;
        --burst) kinds= ;;
        --count) kinds= ;;
        --wait-for) kinds= ;;
        --under) kinds=role ;;
        --reserver) kinds= ;;
        --attribute) kinds= ;;
        --from) kinds=file ;;
        --compare) kinds=file ;;
        --path) kinds= ;;
        --lose-agent) kinds=agent ;;
        --lose-fraction) kinds= ;;
        --add-agent) kinds= ;;
        --lose-framework) kinds=framework ;;
        --cycles) kinds= ;;
        --assume) choices=(hold accept) ;;
    esac
}

_mesosctl_at() {
    case "$1" in
        'mesosctl')
            commands=(apply completion context diff export offers quota ratelimit reservations reserve snapshot unreserve volumes whatif)
            options=(--version --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl apply')
            commands=()
            options=(-f --file --prune --restart --trust-master --allow-new-resource --report --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl completion')
            commands=()
            options=(--server --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('=bash,=zsh,=fish') ;;
        'mesosctl context')
            commands=(list remove set show use)
            options=(--master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl context list')
            commands=()
            options=(--master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl context remove')
            commands=()
            options=(--master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('context*') ;;
        'mesosctl context set')
            commands=()
            options=(--unset --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('context' '=master=,=output=,=timeout=,=principal=,=secret,=secret-file=,=token,=token-file=,=token-scheme=,=secret-from=,=cacert=,=cert=,=key=,=api=,=no-wait=,=dry-run=,=quiet=,=verbose=*') ;;
        'mesosctl context show')
            commands=()
            options=(--origin --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('context') ;;
        'mesosctl context use')
            commands=()
            options=(--master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('context') ;;
        'mesosctl diff')
            commands=()
            options=(-f --file --prune --allow-new-resource --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl export')
            commands=()
            options=(-f --file --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl offers')
            commands=(explain list reserve simulate take unreserve watch)
            options=(--master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl offers explain')
            commands=()
            options=(--master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('role,framework') ;;
        'mesosctl offers list')
            commands=()
            options=(--framework --role --agent --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl offers reserve')
            commands=()
            options=(--offer --id --for --label --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('-*') ;;
        'mesosctl offers simulate')
            commands=()
            options=(--steps --svg --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('file') ;;
        'mesosctl offers take')
            commands=()
            options=(--role --reserve --unreserve --agent --label --report --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl offers unreserve')
            commands=()
            options=(--offer --id --for --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('-*') ;;
        'mesosctl offers watch')
            commands=()
            options=(--framework --role --agent --every --changes --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl quota')
            commands=(check list remove set show update)
            options=(--master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl quota check')
            commands=()
            options=(--limit --allow-new-resource --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('role' '-*') ;;
        'mesosctl quota list')
            commands=()
            options=(--master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl quota remove')
            commands=()
            options=(--report --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('role*') ;;
        'mesosctl quota set')
            commands=()
            options=(--limit --force -f --file --allow-new-resource --report --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('role' '-*') ;;
        'mesosctl quota show')
            commands=()
            options=(--master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('role') ;;
        'mesosctl quota update')
            commands=()
            options=(--limit --force --create -f --file --allow-new-resource --report --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('role' '-*') ;;
        'mesosctl ratelimit')
            commands=(default plan set show simulate suggest unset validate watch)
            options=(--master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl ratelimit default')
            commands=()
            options=(-f --file --qps --capacity --none --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl ratelimit plan')
            commands=()
            options=(--memory --message-size --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('file') ;;
        'mesosctl ratelimit set')
            commands=()
            options=(-f --file --qps --capacity --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('-') ;;
        'mesosctl ratelimit show')
            commands=()
            options=(--master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl ratelimit simulate')
            commands=()
            options=(--traffic --svg --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('file') ;;
        'mesosctl ratelimit suggest')
            commands=()
            options=(--for --interval --headroom --burst -f --file --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl ratelimit unset')
            commands=()
            options=(-f --file --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('-') ;;
        'mesosctl ratelimit validate')
            commands=()
            options=(--live --strict --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('file') ;;
        'mesosctl ratelimit watch')
            commands=()
            options=(--interval --count --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl reservations')
            commands=()
            options=(--role --agent --tree --wait-for --trust-master --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl reserve')
            commands=()
            options=(--role --under --label --reserver --any --count --attribute -f --file --trust-master --report --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('agent' '-*') ;;
        'mesosctl snapshot')
            commands=()
            options=(-f --file --from --anonymise --anonymize --compare --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl unreserve')
            commands=()
            options=(--role --under --label --reserver --all -f --file --trust-master --report --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('agent' '-*') ;;
        'mesosctl volumes')
            commands=(create destroy list)
            options=(--master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl volumes create')
            commands=()
            options=(--role --under --label --reserver --path --trust-master --report --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('agent' '-' '-') ;;
        'mesosctl volumes destroy')
            commands=()
            options=(--role --trust-master --report --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('agent' '-') ;;
        'mesosctl volumes list')
            commands=()
            options=(--role --agent --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=() ;;
        'mesosctl whatif')
            commands=()
            options=(--from --lose-agent --lose-fraction --add-agent --count --attribute --lose-framework --force --allow-new-resource --cycles --assume --report --master --context -o --output --timeout --principal --secret-file --token-file --token-scheme --secret-from --cacert --cert --key --api --no-wait -y --yes --dry-run -q --quiet -v --verbose -h --help)
            places=('=quota:,=limit:,=remove-quota:,=weight:,=reserve:,=unreserve:,=create:,=destroy:*') ;;
    esac
}

# Names of a kind that mesosctl keeps, added to candidates; it is asked only where they are too old.
_mesosctl_names() {
    local kind=$1 folder=${XDG_CACHE_HOME:-} where=default from=$master name until=0 now
    local -a found=()
    if [[ $folder != /* ]]; then folder=$HOME/.cache; fi
    if [[ -n $from ]]; then
        if [[ $from == *//*@* ]]; then from=${from%%//*}//${from##*@}; fi
        where=master-${from//[^A-Za-z0-9._-]/_}
    elif [[ -n $context ]]; then
        where=context-$context
    fi
    folder=$folder/mesosctl/names/$where/$kind
    if [[ $kind == context ]]; then folder=${folder%/*/*}/context; fi
    if [[ -r $folder ]]; then
        { IFS= read -r until; while IFS= read -r name; do found+=("$name"); done; } <"$folder"
    fi
    now=${EPOCHSECONDS:-$(date +%s)}
    if ! [[ $until =~ ^[0-9]{1,12}$ ]] || ((until < now)); then
        found=()
        while IFS= read -r name; do found+=("$name"); done \
            < <(command mesosctl complete "$kind" ${along[@]+"${along[@]}"} </dev/null 2>/dev/null)
    fi
    candidates+=(${found[@]+"${found[@]}"})
}

_mesosctl() {
    local -a words=() commands=() options=() places=() choices=() candidates=() along=()
    local path=mesosctl word glued= skip= current raw prefix= value option= kinds= kind quoted cut
    local master=${MESOSCTL_MASTER:-} context=${MESOSCTL_CONTEXT:-}
    local -i i count=0 last
    COMPREPLY=()
    # bash makes several words of --output=json and of http://host:5050
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $i -gt 1 && ( -n $glued || $word =~ ^[:=]+$ ) ]]; then
            words[${#words[@]}-1]+=$word
            if [[ $word =~ ^[:=]+$ ]]; then glued=1; else glued=; fi
        else
            words+=("$word")
            glued=
        fi
    done
    last=${#words[@]}-1
    current=${words[last]}
    raw=${COMP_WORDS[COMP_CWORD]}
    if [[ $raw =~ ^[:=]+$ ]]; then raw=; fi
    cut=${current%"$raw"}
    for ((i = 1; i < last; i++)); do
        word=${words[i]//[\'\"]/}
        word=${word/#\~\//$HOME/}
        if [[ $word == --*=* ]] && _mesosctl_takes_value "${word%%=*}"; then
            skip=${word%%=*}
            word=${word#*=}
        elif [[ -z $skip ]]; then
            if _mesosctl_takes_value "$word"; then
                skip=$word
            elif [[ $word == -* ]]; then
                :
            elif ((count == 0)) && _mesosctl_is_command "$path $word"; then
                path="$path $word"
            else
                count+=1
            fi
            continue
        fi
        if _mesosctl_goes_along "$skip"; then along+=("$skip" "$word"); fi
        case "$skip" in
            --master) master=$word ;;
            --context) context=$word ;;
        esac
        skip=
    done
    option=$skip
    value=$current
    if [[ $current == --*=* ]]; then
        option=${current%%=*}
        prefix=$option=
        value=${current#*=}
    fi
    if [[ -n $option ]]; then
        _mesosctl_after_option "$option"
        candidates=(${choices[@]+"${choices[@]}"})
    else
        _mesosctl_at "$path"
        candidates=(${commands[@]+"${commands[@]}"})
        for ((i = 0; i < ${#places[@]}; i++)); do
            if ((i == count)) || [[ $i -lt $count && ${places[i]} == *'*' ]]; then kinds=${places[i]%\*}; fi
        done
        if [[ $value == -* || ( ${#candidates[@]} -eq 0 && ( -z $kinds || $kinds == - ) ) ]]; then
            candidates=("${options[@]}")
            kinds=
        fi
    fi
    for kind in ${kinds//,/ }; do
        case "$kind" in
            file)
                compopt -o filenames 2>/dev/null || :
                while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$value")
                ;;
            -) ;;
            =*) candidates+=("${kind#=}") ;;
            *) _mesosctl_names "$kind" ;;
        esac
    done
    for word in ${candidates[@]+"${candidates[@]}"}; do
        if [[ $word == "$value"* ]]; then
            printf -v quoted %q "$word"
            word=$prefix$quoted
            COMPREPLY+=("${word#"$cut"}")
            if [[ $word == *[:=/] ]]; then compopt -o nospace 2>/dev/null || :; fi
        fi
    done
}

complete -F _mesosctl mesosctl
